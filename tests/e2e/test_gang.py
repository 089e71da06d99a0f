"""Submit a gang in a browser and watch it finish."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

FILE = re.compile(
    r"name: ring-of-four\nqueue: train\n.*image: muster/process\ncommand: \[python3, allreduce.py\]\n"
    r"workers: 4\ngpus: 2\n.*ROUNDS:",
    re.DOTALL,
)


def test_a_gang_is_submitted_from_the_form_and_watched_until_it_has_finished(platform, signed_in):
    page = signed_in("vera")
    page.get_by_role("link", name="Submit a job").first.click()
    page.get_by_role("button", name="PyTorch DDP").click()
    page.get_by_label("Name", exact=True).fill("ring-of-four")
    page.get_by_label("Queue", exact=True).select_option("train")
    page.get_by_label("Image", exact=True).fill("muster/process")
    page.get_by_label("Command", exact=True).fill("python3 allreduce.py")
    page.get_by_label("Workers", exact=True).fill("4")
    page.get_by_label("GPUs per worker", exact=True).fill("2")
    page.get_by_label("Variables").fill("ROUNDS=20\nSECONDS=6")
    expect(page.locator("textarea[name=source]")).to_have_value(FILE)
    expect(page.get_by_role("status").filter(has_text="Asks for 4 workers with 8 GPUs")).to_be_visible()
    page.get_by_role("button", name="Submit job").click()

    expect(page.get_by_role("heading", name="ring-of-four", level=1)).to_be_visible()
    progress = page.get_by_role("list", name="Progress")
    expect(progress.locator("[aria-current=step]")).to_contain_text("Running", timeout=60_000)
    expect(page.get_by_role("region", name="Rows of workers").get_by_text("Running")).to_have_count(4)
    expect(page.get_by_role("region", name="Placement").get_by_role("button", name="ring-of-four")).to_contain_text("8")
    expect(page.locator("mu-log")).to_contain_text("[rank 0/4]", timeout=20_000)
    expect(page.locator("mu-log").get_by_label("Worker", exact=True).locator("option")).to_have_count(5)
    # Nobody touches the page: what changes comes by the line.
    expect(progress.locator("[aria-current=step]")).to_contain_text("Succeeded", timeout=60_000)
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_role("tabpanel", name="Events")).to_contain_text("Submitted to vision/train")


def test_what_is_written_in_yaml_stands_in_the_form(signed_in, platform):
    page = signed_in("vera")
    page.goto(f"{platform.url}/submit/")
    editor = page.get_by_role("textbox", name="Job file in YAML")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("name: from-yaml\nqueue: eval\nimage: a/b:1\ncommand: [python, 'a b.py']\nworkers: 3\n")
    expect(page.get_by_label("Name", exact=True)).to_have_value("from-yaml")
    expect(page.get_by_label("Workers", exact=True)).to_have_value("3")
    expect(page.get_by_label("Command", exact=True)).to_have_value("python 'a b.py'")
    expect(page.get_by_label("Queue", exact=True)).to_have_value("eval")


def test_a_mistake_is_said_beside_the_field_and_the_line(signed_in, platform):
    page = signed_in("vera")
    page.goto(f"{platform.url}/submit/")
    workers = page.get_by_label("Workers", exact=True)
    workers.fill("many")
    expect(workers).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    workers.fill("2")
    expect(workers).not_to_have_attribute("aria-invalid", "true")


def test_a_key_whose_feature_is_not_there_is_refused_by_name(signed_in, platform):
    page = signed_in("vera")
    page.goto(f"{platform.url}/submit/")
    page.get_by_role("textbox", name="Job file in YAML").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("gpus_per_rack: 3\n")
    expect(page.locator("[data-summary]")).to_contain_text("gpus_per_rack")
