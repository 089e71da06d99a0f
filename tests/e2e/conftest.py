"""One platform and one browser for all; a signed-in page for each test, which fails on any error in its console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.platform import Demo, demo, launch

EXPECTED = ("WebSocket connection", "Failed to load resource", "net::ERR", "Failed to fetch", "Applying inline style")
"""What a browser says of a line cut on purpose, of an address that answers with an error as it should, and of its own
doing: what is typed over a selection it wraps in styled spans, which the policy strips before the editor draws anew."""


@pytest.fixture(scope="session")
def platform() -> Iterator[Demo]:
    with demo() as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them on one worker: one platform at a time is enough for the machine."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("e2e"))


# Not longer than a module: while Playwright is there, no other test can start an event loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


@pytest.fixture
def signed_in(platform: Demo, browser: Browser) -> Iterator[Callable[..., Page]]:
    """`signed_in("vera", scheme="dark", width=390)` opens a page as that person."""
    contexts, complaints = [], []

    def sign_in(who: str, *, scheme: str = "light", width: int = 1440) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        platform.sign_in(page, who)
        return page

    yield sign_in
    for context in contexts:
        context.close()
    assert [text for text in complaints if not any(word in text for word in EXPECTED)] == []
