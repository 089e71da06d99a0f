"""axe finds nothing, in light and in dark, wide and narrow; and nothing scrolls sideways."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

AXE = Path(__file__).parents[2] / "frontend/node_modules/axe-core/axe.min.js"
PAGES = (
    "/",
    "/jobs/",
    "/jobs/{job}/",
    "/submit/",
    "/queues/",
    "/cluster/",
    "/fragmentation/",
    "/nodes/{node}/",
    "/nowhere/",
)


@pytest.fixture(scope="module")
def addresses(platform):
    """Pages of a cluster in which something runs and something waits."""
    job = platform.submit("vera", name="runs", queue="train", workers=2, gpus=4)
    platform.submit("vera", name="waits", queue="eval", workers=9, gpus=8)
    platform.stage.wait(lambda: platform.state("vera", job) == "running", "the job to run")
    with platform.person("vera") as client:
        node = client.get("/api/v1/nodes/", params={"q": "dgx-a100-1"}).json()["results"][0]["id"]
    yield [path.format(job=job, node=node) for path in PAGES]
    platform.cancel_all()


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page(platform, signed_in, addresses, scheme, width):
    page = signed_in("vera", scheme=scheme, width=width)
    found = {}
    for path in addresses:
        page.goto(platform.url + path)
        page.wait_for_timeout(1200)
        page.evaluate(AXE.read_text())
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found[path] = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in result["violations"]]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} scrolls sideways"
    assert {path: violations for path, violations in found.items() if violations} == {}


def test_signing_in(platform, browser):
    page = browser.new_page()
    page.goto(f"{platform.url}/sign-in/")
    page.evaluate(AXE.read_text())
    assert page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"] == []
    page.close()
