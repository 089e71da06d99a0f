"""Everything by keyboard: the palette, the map, menus, nodes."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e


def test_the_palette_leads_anywhere(platform, signed_in):
    page = signed_in("admin")
    page.keyboard.press("Control+k")
    page.keyboard.type("gb200-2")
    expect(page.get_by_role("option", name="gb200-2")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="gb200-2", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("queues")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Queues", level=1)).to_be_visible()


def test_arrows_walk_the_map_and_enter_opens(platform, signed_in):
    page = signed_in("vera")
    page.get_by_role("application", name="Map of GPUs").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("mu-map [aria-live]")
    expect(said).to_contain_text("GPU 0")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("GPU 1")
    node = said.inner_text().split(" ")[0]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=node, level=1)).to_be_visible()


def test_a_table_stands_behind_the_map(platform, signed_in):
    page = signed_in("vera")
    page.get_by_role("button", name="Show as a table").click()
    expect(page.get_by_role("rowheader", name="dgx-h100-1")).to_be_visible()


def test_a_node_is_cordoned_and_given_back(platform, signed_in):
    page = signed_in("admin")
    page.goto(f"{platform.url}/cluster/?q=dgx-a100-1")
    page.get_by_role("link", name="dgx-a100-1").click()
    page.get_by_role("button", name="Cordon").click()
    expect(page.get_by_role("button", name="Uncordon")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Uncordon").click()
    expect(page.get_by_role("button", name="Cordon", exact=True)).to_be_visible(timeout=30_000)


def test_members_give_no_orders(platform, signed_in):
    page = signed_in("vera")
    page.goto(f"{platform.url}/cluster/?q=dgx-a100-1")
    page.get_by_role("link", name="dgx-a100-1").click()
    expect(page.get_by_role("heading", name="Wiring")).to_be_visible()
    expect(page.get_by_role("button", name="Cordon")).to_have_count(0)
