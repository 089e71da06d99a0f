"""Find out why a job waits."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e


@pytest.fixture
def waiting(platform):
    """A job that the queue's limit of 32 GPUs keeps waiting behind one that runs."""
    first = platform.submit("vera", name="fills-the-queue", queue="eval", workers=4, gpus=6)
    platform.stage.wait(lambda: platform.state("vera", first) == "running", "the first job to run")
    yield platform.submit("vera", name="waits-its-turn", queue="eval", workers=2, gpus=8)
    platform.cancel_all()


def test_its_page_says_why_in_words_and_where_it_stands(platform, signed_in, waiting):
    page = signed_in("vera")
    page.goto(f"{platform.url}/jobs/")
    page.get_by_role("link", name="waits-its-turn").click()
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_contain_text("limit of 32 GPUs", timeout=20_000)
    expect(why).to_contain_text("Number 1 in queue eval")


def test_it_is_held_and_released_from_its_page_and_cancelled_from_the_list(platform, signed_in, waiting):
    page = signed_in("vera")
    page.goto(f"{platform.url}/jobs/{waiting}/")
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("list", name="Progress").locator("[aria-current=step]")).to_contain_text("Held")
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_role("list", name="Progress").locator("[aria-current=step]")).to_contain_text("Queued")
    page.goto(f"{platform.url}/jobs/?state=waiting&q=waits")
    page.get_by_label("Choose waits-its-turn").check()
    page.get_by_role("button", name="Cancel jobs").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 1 jobs").click()
    expect(page.get_by_role("heading", name="No job matches")).to_be_visible()
    assert platform.state("vera", waiting) == "cancelled"


def test_others_see_neither_the_job_nor_its_name(platform, signed_in, waiting):
    page = signed_in("rosa")
    assert page.goto(f"{platform.url}/jobs/{waiting}/").status == 404
    expect(page.get_by_role("heading", name="Not found", level=1)).to_be_visible()
    page.goto(platform.url)
    page.get_by_role("button", name="Job", exact=True).click()
    expect(page.get_by_role("button", name="another tenant")).to_be_visible()
    assert "fills-the-queue" not in page.content()
