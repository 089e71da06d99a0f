"""Lose the connection and come back."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e


def test_the_page_says_since_when_it_is_stale_and_catches_up(platform, signed_in):
    page = signed_in("vera")
    page.goto(f"{platform.url}/jobs/")
    line = page.locator("mu-line")
    expect(line).to_have_text("live")
    platform.stage.kill("web")
    expect(line).to_contain_text("stale since")
    expect(page.get_by_text("The connection is down.")).to_be_visible()
    platform.stage.start("web")
    platform.stage.wait_for_web()
    job = platform.submit("vera", name="came-meanwhile", queue="train", workers=1, gpus=1)
    expect(line).to_have_text("live", timeout=40_000)
    expect(page.get_by_text("The connection is down.")).to_be_hidden()
    expect(page.get_by_role("link", name="came-meanwhile")).to_be_visible(timeout=20_000)
    platform.cancel_all()
    assert job


def test_a_publisher_that_died_makes_the_page_stale_too(platform, signed_in):
    page = signed_in("vera")
    expect(page.locator("mu-line")).to_have_text("live")
    platform.stage.kill("publisher")
    expect(page.locator("mu-line")).to_contain_text("stale since", timeout=20_000)
    platform.stage.start("publisher")
    expect(page.locator("mu-line")).to_have_text("live", timeout=30_000)
