"""The bottleneck of a placement: inside a node by the best ring, between nodes by the widest border."""

import numpy as np
import pytest

from scheduler.model.bandwidth import MEASURED, NOMINAL, bottleneck, ring_within
from scheduler.model.catalogue import SHAPES
from scheduler.model.hardware import mask_of
from scheduler.model.nodes import Layout
from scheduler.model.plan import Bottleneck
from tests.hardware.nodes import nodes


@pytest.mark.parametrize(
    ("shape", "gpus", "level", "gigabytes"),
    [
        pytest.param("dgx-h100", range(8), "nvlink", 900, id="all joined"),
        pytest.param("dgx-a100", [0, 7], "nvlink", 600, id="across sockets, by NVLink all the same"),
        pytest.param("dgx1-v100", [0, 3], "nvlink", 100, id="a double link"),
        pytest.param("dgx1-v100", [0, 1], "nvlink", 50, id="a single link"),
        pytest.param("dgx1-v100", [0, 5], "across", 32, id="not joined"),
        pytest.param("dgx1-v100", range(8), "nvlink", 100, id="the mesh has a ring of double links"),
        pytest.param("dgx1-v100", [0, 1, 2, 3], "nvlink", 50, id="a quad's ring needs a single link"),
        pytest.param("a100-pcie-bridged", [0, 1], "nvlink", 600, id="a bridge"),
        pytest.param("a100-pcie-bridged", [0, 1, 2, 3], "switch", 64, id="two bridges on one switch"),
        pytest.param("l40s-pcie8", [0, 1], "switch", 64, id="one switch"),
        pytest.param("rtx4090-8", [0, 1], "numa", 32, id="one socket"),
        pytest.param("rtx4090-8", [0, 4], "across", 32, id="two sockets"),
    ],
)
def test_ring_within_a_node(shape: str, gpus: list[int], level: str, gigabytes: float) -> None:
    assert ring_within(SHAPES[shape], mask_of(list(gpus))) == Bottleneck(level, gigabytes, "nominal")


def test_one_gpu_has_no_ring() -> None:
    assert ring_within(SHAPES["dgx-h100"], 1) is None


ALL, HALF = 0xFF, 0x0F


@pytest.mark.parametrize(
    ("at", "masks", "level", "gigabytes"),
    [
        pytest.param([0], [ALL], "nvlink", 900, id="one node"),
        pytest.param([0, 0], [0x0F, 0xF0], "nvlink", 900, id="two workers on one node"),
        pytest.param([0, 1], [ALL, ALL], "host", 400, id="one rack: all NICs of both"),
        pytest.param([0, 1], [HALF, ALL], "host", 200, id="half of a node's GPUs: half of its NICs"),
        pytest.param([0, 1, 2], [ALL, ALL, ALL], "rack", 50, id="two racks"),
        pytest.param([0, 3], [ALL, ALL], "block", 50, id="two blocks"),
        pytest.param([0, 0, 1], [0, 1, 0], None, None, id="one GPU, and workers without"),
    ],
)
def test_slowest_border_of_a_gang(at: list[int], masks: list[int], level: str | None, gigabytes: float | None) -> None:
    layout = Layout(nodes("dgx-h100", domains=[(0, 0), (0, 0), (0, 1), (1, 2)]), ("block", "rack"))
    found = bottleneck(layout, np.array(at), np.array(masks, dtype=np.uint32))
    assert (found.level, found.gigabytes) == (level, gigabytes) if found else level is None


def test_trays_of_one_nvlink_domain_talk_by_nvlink() -> None:
    layout = Layout(nodes("gb200-tray", domains=[(0,), (0,), (0,)], nvlink_domain=[7, 7, 8]), ("rack",))
    masks = np.array([0xF, 0xF], dtype=np.uint32)
    assert bottleneck(layout, np.array([0, 1]), masks) == Bottleneck("host", 1800, "nominal")
    assert bottleneck(layout, np.array([1, 2]), masks) == Bottleneck("host", 400, "nominal")


def test_without_levels_nothing_says_that_nodes_are_near() -> None:
    layout = Layout(nodes("dgx-h100", domains=[(), ()]), ())
    found = bottleneck(layout, np.array([0, 1]), np.array([ALL, ALL], dtype=np.uint32))
    assert found == Bottleneck("host", NOMINAL.beyond.gigabytes, "nominal")


def test_a_nominal_figure_is_never_called_measured() -> None:
    assert ring_within(SHAPES["dgx-h100"], ALL, MEASURED) == Bottleneck("nvlink", 476.85, "measured")
    assert ring_within(SHAPES["dgx1-v100"], mask_of([0, 3]), MEASURED) == Bottleneck("nvlink", 100, "nominal")


@pytest.mark.parametrize("workers", [4_000])
def test_a_large_gang_is_no_matter(workers: int) -> None:
    layout = Layout(nodes("dgx-h100", domains=[(i // 400, i // 20) for i in range(workers)]), ("block", "rack"))
    found = bottleneck(layout, np.arange(workers), np.full(workers, ALL, dtype=np.uint32))
    assert found == Bottleneck("block", 50, "nominal")
