"""Pages in a real browser: first paint on loopback, and frames per second of the map at 80,000 GPUs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.platform import CHROMIUM, FLAGS
from tests.perf.load_times import fill
from tests.support.stage import Stage

NODES = 10_000
VIEW = {"width": 1440, "height": 900}
VISITS = 5
WATCHED_SECONDS = 5

# Walk the pointer over the map, one step a frame, and count the frames that were shown.
HOVER = """async (seconds) => {
  const map = document.querySelector("mu-map"), box = map.querySelector(".map-scroll").getBoundingClientRect();
  const canvas = map.querySelector("canvas"), end = performance.now() + seconds * 1000;
  let frames = 0;
  while (performance.now() < end) {
    const at = { clientX: box.left + (frames * 13) % box.width, clientY: box.top + (frames * 7) % box.height, bubbles: true };
    canvas.dispatchEvent(new PointerEvent("pointermove", at));
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return frames / seconds;
}"""
FIRST_PAINT = """() => new Promise((done) => {
  const take = (list) => list.getEntriesByName("first-contentful-paint").forEach((entry) => done(entry.startTime));
  new PerformanceObserver(take).observe({ type: "paint", buffered: true });
})"""


def rows() -> Iterator[dict[str, Any]]:
    """page.first_paint, map.fps, map.shown."""
    with Stage() as stage:
        with stage.django():
            cookie = _admin_cookie()
            cluster_id = fill(NODES)
        stage.start("web", "publisher")
        stage.wait_for_web()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            yield _row("page.first_paint", _first_paint(browser, stage.url, cookie), "ms", "lower", "1,000 ms")
            page = _open(browser, stage.url, cookie)
            page.goto(stage.url + "/", wait_until="commit")
            began = page.evaluate("() => performance.now()")
            page.locator("mu-map .legend button").first.wait_for(timeout=120_000)
            shown = page.evaluate("() => performance.now()") - began
            yield _row("map.shown", shown, "ms", "lower", f"{NODES * 8:,} GPUs of cluster {cluster_id}")
            yield _row("map.fps", page.evaluate(HOVER, WATCHED_SECONDS), "frames/s", "higher", "60")
            browser.close()


def _first_paint(browser: Browser, url: str, cookie: dict[str, str]) -> float:
    """Median over several visits with an empty cache."""
    times = []
    for _ in range(VISITS):
        page = _open(browser, url, cookie)
        page.goto(url + "/jobs/")
        times.append(float(page.evaluate(FIRST_PAINT)))
        page.context.close()
    return statistics.median(times)


def _open(browser: Browser, url: str, cookie: dict[str, str]) -> Page:
    context = browser.new_context(viewport=VIEW)
    context.add_cookies([{**cookie, "url": url}])  # type: ignore[list-item]
    return context.new_page()


def _admin_cookie() -> dict[str, str]:
    from django.conf import settings

    from tests.support.builders import make_user
    from tests.support.signed_in import session_of

    return {"name": settings.SESSION_COOKIE_NAME, "value": session_of(make_user("bench-admin", is_staff=True))}


def _row(name: str, value: float, unit: str, better: str, reference: str) -> dict[str, Any]:
    source = f"Chromium, {VIEW['width']} x {VIEW['height']}, on loopback"
    return {
        "name": name, "value": round(value, 1), "unit": unit, "better": better, "reference": reference, "source": source,
    }  # fmt: skip
