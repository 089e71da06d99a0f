"""Read logs while the job runs."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e


@pytest.fixture
def talking(platform):
    """Two workers that write five lines a second for two minutes."""
    told = {"run_seconds": 120, "log_lines": 600}
    yield platform.submit("vera", name="talks", queue="train", workers=2, gpus=1, behaviour=told)
    platform.cancel_all()


def test_logs_are_followed_searched_and_read_by_worker(platform, signed_in, talking):
    page = signed_in("vera")
    page.goto(f"{platform.url}/jobs/{talking}/")
    log = page.locator("mu-log")
    # The page was open before there was a log: it comes by itself.
    expect(log).to_contain_text(re.compile(r"line \d\d+/600"), timeout=60_000)
    expect(log).to_contain_text("live")
    log.get_by_label("Search in the log").fill("line 7/600")
    expect(log).to_contain_text("1 of 2")
    expect(log.locator("mark[data-current]")).to_have_text("line 7/600")
    log.get_by_label("Search in the log").press("Enter")
    expect(log).to_contain_text("2 of 2")
    log.get_by_label("Worker", exact=True).select_option("worker-1")
    log.get_by_label("Search in the log").fill("line 7/600")
    expect(log).to_contain_text("1 of 1", timeout=20_000)


def test_a_failed_job_shows_the_exit_code_and_the_last_lines(platform, signed_in):
    told = {"run_seconds": 2, "log_lines": 9, "exit_code": 3}
    job = platform.submit("vera", name="fails", queue="train", workers=2, gpus=1, behaviour=told)
    page = signed_in("vera")
    page.goto(f"{platform.url}/jobs/{job}/")
    why = page.get_by_role("region", name="Why it failed")
    expect(why).to_contain_text("exit code 3", timeout=60_000)
    expect(why).to_contain_text("line 9/9", timeout=20_000)
    expect(page.locator("mu-log")).to_contain_text("complete", timeout=20_000)
