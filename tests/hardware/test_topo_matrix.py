"""`nvidia-smi topo -m`: every real matrix, and what people do to one before they paste it."""

import re
from collections.abc import Callable

import pytest

from scheduler.model.catalogue import GPU_MODELS, SHAPES
from scheduler.model.evidence.best import NodeSources, best_evidence
from scheduler.model.evidence.found import EvidenceError
from scheduler.model.evidence.products import PRODUCTS
from scheduler.model.evidence.topo_matrix import from_topo, parse_topo
from scheduler.model.hardware import NodeShape
from tests.hardware.facts import DATA

FILES = {path.stem: path for path in sorted((DATA / "topo").glob("*.txt"))}
real = pytest.mark.skipif(not FILES, reason="the topology files are not here: set MUSTER_TEST_DATA to their folder")

EVERYTHING = [
    # file, NVLink groups, NUMA groups, switch groups, NICs on a switch of GPUs / all NICs
    ("a100_pcie_4gpu_nvlink_bridge_pairs", "01 23", "01 23", "0 1 2 3", (0, 0)),
    ("aws_p4d_a100_8gpu", "01234567", "0123 4567", "0 1 2 3 4 5 6 7", (0, 0)),
    ("cloud_a100_4gpu_pairs_one_numa_per_gpu", "01 23", "0 1 2 3", "0 1 2 3", (0, 0)),
    ("dgx1_v100_8gpu_4hca", "0123 04 15 26 37 4567", "0123 4567", "01 23 45 67", (4, 4)),
    ("dgx_a100_8gpu_10nic", "01234567", "01 23 45 67", "01 23 45 67", (8, 10)),
    ("dgx_h100_8gpu_12nic", "01234567", "0123 4567", "0 1 2 3 4 5 6 7", (8, 12)),
    ("gb10_single_gpu", "", "0", "0", (0, 0)),
    ("gb200_nvl72_tray_4gpu", "0123", "01 23", "0 1 2 3", (0, 0)),
    ("h100_4gpu_nv6_numa_each", "0123", "0 1 2 3", "0 1 2 3", (4, 4)),
    ("hgx_a100_8gpu_2hca", "01234567", "0123 4567", "01 2 3 45 6 7", (2, 2)),
    ("hgx_h100_8gpu_per_gpu_nic_sys", "01234567", "0123 4567", "0 1 2 3 4 5 6 7", (8, 10)),
    ("l40s_4gpu_2nic", "", "01 23", "0 1 2 3", (0, 2)),
    ("pcie_8gpu_dual_switch_pairs", "", "0123 4567", "0123 4567", (0, 1)),
    ("rtx4090_8gpu_1nic", "", "0123 4567", "0123 4567", (0, 1)),
    ("v100_sxm2_8gpu_1nic", "0123 04 15 26 37 4567", "0123 4567", "0 1 2 3 4 5 6 7", (0, 1)),
    ("workstation_5gpu_mixed", "", "0 1234", "0 1 2 3 4", (0, 0)),
]


def shape_from(text: str) -> NodeShape:
    """The shape of pasted text on a node that labels give some model."""
    labels = {"nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/gpu.count": str(len(parse_topo(text).gpus))}
    shape = best_evidence(NodeSources(labels=labels, pasted=text)).shape()
    assert shape is not None
    return shape


def spelled(groups: tuple[int, ...]) -> str:
    """Masks as the table writes them."""
    return " ".join(sorted("".join(str(i) for i in range(16) if mask >> i & 1) for mask in groups))


@real
def test_the_table_covers_every_file() -> None:
    assert [row[0] for row in EVERYTHING] == sorted(FILES)


@real
@pytest.mark.parametrize(("name", "nvlink", "numa", "switch", "nics"), EVERYTHING, ids=[row[0] for row in EVERYTHING])
def test_every_real_matrix(name: str, nvlink: str, numa: str, switch: str, nics: tuple[int, int]) -> None:
    shape = shape_from(FILES[name].read_text())
    assert spelled(shape.nvlink_groups) == nvlink
    assert spelled(shape.numa_groups) == numa
    assert spelled(shape.switch_groups) == switch
    assert (sum(nic.switch >= 0 for nic in shape.nics), len(shape.nics)) == nics


@real
def test_a_dgx1_is_wired_as_the_catalogue_has_it() -> None:
    shape, known = shape_from(FILES["dgx1_v100_8gpu_4hca"].read_text()), SHAPES["dgx1-v100"]
    assert (shape.links, shape.numa, shape.switch) == (known.links, known.numa, known.switch)


@real
def test_nic_stands_beside_the_gpu_that_reaches_it() -> None:
    nics = from_topo(FILES["dgx_h100_8gpu_12nic"].read_text()).nics
    assert nics is not None
    assert [nic.switch for nic in nics] == [0, None, None, 1, 2, 3, 4, None, None, 5, 6, 7]
    assert {nic.numa for nic in nics[:6]} == {0}


def wrapped(text: str, cells: int = 7) -> str:
    """As a narrow terminal shows it: broken between cells, tabs turned into spaces."""
    rows = (line.split("\t") for line in text.splitlines())
    return "\n".join("    ".join(row[at : at + cells]) for row in rows for at in range(0, len(row), cells))


def coloured(text: str) -> str:
    """With the escapes by which nvidia-smi underlines its header."""
    return re.sub(r"^(\tGPU0.*)$", "\x1b[4m\\1\x1b[0m", text, flags=re.MULTILINE)


@real
@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize(
    "change", [wrapped, coloured, lambda text: text.replace("\n", "\r\n"), lambda text: "$ nvidia-smi topo -m\n" + text]
)
def test_pasting_changes_nothing(name: str, change: Callable[[str], str]) -> None:
    text = FILES[name].read_text()
    assert from_topo(change(text)) == from_topo(text)


SMALL = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\tPIX\t0-7\t0\nGPU1\tNV4\t X \tSYS\t8-15\t1\n"


def test_nic_legend_names_the_cards() -> None:
    nics = from_topo(SMALL + "NIC0\tPIX\tSYS\t X\n\nLegend:\n\n  X = Self\n\nNIC Legend:\n\n  NIC0: mlx5_4\n").nics
    assert nics is not None
    assert nics[0].name == "mlx5_4"


def test_numa_not_known_is_not_guessed() -> None:
    evidence = from_topo(SMALL.replace("\t0-7\t0", "\t0-7\tN/A"))
    assert [gpu.numa for gpu in evidence.gpus] == [None, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("No devices were found", "no GPU0 column", id="no GPUs"),
        pytest.param("\tGPU0\tGPU1\n", "no row of GPU0", id="header alone"),
        pytest.param(SMALL.replace("GPU1\tNV4\t X \tSYS\t8-15\t1\n", ""), "no row for GPU1", id="a row cut off"),
        pytest.param(
            SMALL.replace("GPU0\t X \tNV4\tPIX", "GPU0\t X \tNV4"), "row GPU0: 3 links expected", id="a cell missing"
        ),
        pytest.param(SMALL.replace("PIX", "PIXEL"), "row GPU0", id="no such link"),
    ],
)
def test_what_is_not_a_matrix_says_why(text: str, message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        from_topo(text)


def test_every_product_is_a_flavor() -> None:
    assert set(PRODUCTS.values()) <= set(GPU_MODELS)
