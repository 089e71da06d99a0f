"""`make screenshots`: every page for docs/guide, wide and narrow, light and dark; crowded, empty, and with the line down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.platform import Demo, demo, launch

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1440, 390)]
HEIGHTS = {1440: 900, 390: 844}
LONG = {"run_seconds": 1800, "log_lines": 900}
SETTLE_MS = 2500

# who, name, queue, workers, GPUs each, further keys
CROWD = [
    ("vera", "vit-large-336", "train", 2, 8, {"topology": {"preferred": "rack"}}),
    ("vera", "segment-anything-ft", "train", 1, 4, {}),
    ("vera", "eval-imagenet", "eval", 3, 2, {}),
    ("vera", "whisper-distil", "train", 4, 8, {}),
    ("noam", "llama-pretrain", "pretrain", 4, 8, {"topology": {"preferred": "block"}}),
    ("noam", "reward-model-v3", "finetune", 2, 4, {}),
    ("noam", "tokenizer-sweep", "finetune", 8, 1, {}),
    ("rosa", "dreamer-sim", "sim", 4, 4, {}),
    ("rosa", "policy-with-a-name-of-sixty-characters-as-people-do-choose", "policy", 1, 8, {}),
    ("vera", "detr-pretrain", "eval", 4, 8, {}),
    ("noam", "moe-scaling", "pretrain", 8, 8, {}),
    ("vera", "clip-ablation", "train", 3, 8, {}),
]


def main() -> None:
    """Take them all."""
    GUIDE.mkdir(parents=True, exist_ok=True)
    with demo() as platform, sync_playwright() as playwright:
        browser = launch(playwright)
        shoot(platform, browser, {"overview-empty": "/", "jobs-empty": "/jobs/"})
        shoot(platform, browser, fill(platform))
        shoot_stale(platform, browser)
        browser.close()


def fill(platform: Demo) -> dict[str, str]:
    """Submit the crowd, and one that fails; the pages to show, by name."""
    jobs = {
        name: platform.submit(who, name=name, queue=queue, workers=workers, gpus=gpus, behaviour=LONG, **more)
        for who, name, queue, workers, gpus, more in CROWD
    }
    told = {"run_seconds": 3, "log_lines": 40, "exit_code": 1}
    failed = platform.submit("vera", name="sweep-lr-007", queue="eval", workers=1, gpus=1, behaviour=told)
    platform.stage.wait(lambda: platform.state("vera", jobs["whisper-distil"]) == "running", "the crowd to run")
    platform.stage.wait(lambda: platform.state("vera", failed) == "failed", "one to fail")
    with platform.person("vera") as client:
        node = client.get("/api/v1/nodes/", params={"q": "dgx-a100-1"}).json()["results"][0]["id"]
    return {
        "overview": "/",
        "jobs": "/jobs/",
        "job": f"/jobs/{jobs['vit-large-336']}/",
        "job-waits": f"/jobs/{jobs['detr-pretrain']}/",
        "job-failed": f"/jobs/{failed}/",
        "submit": "/submit/",
        "queues": "/queues/",
        "cluster": "/cluster/",
        "node": f"/nodes/{node}/",
    }


def shoot(platform: Demo, browser: Browser, pages: dict[str, str]) -> None:
    """Each page in each look, as docs/guide/NAME-SCHEME-WIDTH.png."""
    for page, look in _looks(platform, browser):
        for name, path in pages.items():
            page.goto(platform.url + path)
            page.wait_for_timeout(SETTLE_MS)
            page.screenshot(path=GUIDE / f"{name}-{look}.png")


def shoot_stale(platform: Demo, browser: Browser) -> None:
    """The overview while the line is down."""
    open_pages = list(_looks(platform, browser))
    for page, _ in open_pages:
        page.goto(platform.url)
        page.locator("mu-map canvas").first.wait_for()
        page.wait_for_timeout(SETTLE_MS)
    platform.stage.kill("web")
    for page, look in open_pages:
        page.get_by_text("The connection is down.").wait_for()
        page.screenshot(path=GUIDE / f"overview-stale-{look}.png")


def _looks(platform: Demo, browser: Browser) -> Iterator[tuple[Page, str]]:
    for scheme, width in LOOKS:
        context = browser.new_context(
            viewport={"width": width, "height": HEIGHTS[width]},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        platform.sign_in(page, "vera")
        yield page, f"{scheme}-{width}"


if __name__ == "__main__":
    main()
