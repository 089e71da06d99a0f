"""MIG: the tables against NVIDIA's figures, and where an instance is put."""

import json
from collections.abc import Iterator

import pytest

from scheduler.model.instances import Instance, instance_of, instances_of
from scheduler.model.mig import PROFILES
from scheduler.model.resources import PARTS_PER_GPU, mig_parts
from scheduler.place.mig import starts_of
from tests.hardware.facts import DATA

FACTS = DATA / "mig_profiles.json"
NAMES = {"GB200-186GB": "GB200-192GB"}
"""The facts name a GPU by its usable memory, we by its nominal one."""

Layout = tuple[tuple[str, int], ...]


def maximal_layouts(
    profiles: tuple[Instance, ...], slices: int = 0, compute: int = 0, least: int = 0
) -> Iterator[Layout]:
    """Every set of placed instances to which nothing more can be added, each once."""
    fits = [
        (number, one, start)
        for number, (one, start) in enumerate((one, start) for one in profiles for start in one.starts)
        if not slices & one.mask_at(start) and compute + one.compute <= one.total_compute
    ]
    if not fits:
        yield ()
    for number, one, start in fits:
        if number >= least:
            rest = maximal_layouts(profiles, slices | one.mask_at(start), compute + one.compute, number)
            yield from (((one.profile, start), *more) for more in rest)


@pytest.mark.skipif(not FACTS.exists(), reason="mig_profiles.json is not here: set MUSTER_TEST_DATA to its folder")
@pytest.mark.parametrize("model", sorted(PROFILES))
def test_tables_agree_with_the_published_ones(model: str) -> None:
    named = {NAMES.get(name, name): gpu for name, gpu in json.loads(FACTS.read_text())["gpus"].items()}
    gpu = named.get(model) or named[model.replace("PCIE-", "")]
    published = {
        (p["name"], p["compute_slices"], p["memory_slices"], tuple(p["starts"]))
        for p in gpu["profiles"]
        if not p["name"].endswith("+me")
    }
    assert {(one.profile, one.compute, one.size, one.starts) for one in instances_of(model)} == published
    assert {one.total_compute for one in instances_of(model)} == {gpu["total_compute_slices"]}


def test_nineteen_maximal_layouts_as_in_the_guide() -> None:
    without_double = tuple(one for one in instances_of("A100-40GB") if (one.compute, one.size) != (1, 2))
    layouts = {tuple(sorted(layout, key=lambda placed: placed[1])) for layout in maximal_layouts(without_double)}
    assert len(layouts) == 19


def test_layouts_with_double_memory() -> None:
    layouts = {
        tuple(sorted(layout, key=lambda placed: placed[1])) for layout in maximal_layouts(instances_of("A100-40GB"))
    }
    assert len(layouts) == 78
    assert len({tuple(sorted(name for name, _ in layout)) for layout in layouts}) == 38


@pytest.mark.parametrize(
    ("profile", "used", "compute", "start"),
    [
        pytest.param("7g.80gb", 0, 0, 0, id="the whole GPU"),
        pytest.param("3g.40gb", 0, 0, 4, id="the upper half, so that 4g still fits below"),
        pytest.param("2g.20gb", 0, 0, 4, id="above, so that 4g and 3g still fit below"),
        pytest.param("1g.10gb", 0, 0, 4, id="the lowest of those that leave 4g"),
        pytest.param("1g.10gb", 0b0001_0000, 1, 5, id="beside the first, not into the free half"),
        pytest.param("4g.40gb", 0b0000_0001, 1, -1, id="no start left"),
        pytest.param("3g.40gb", 0b0000_1111, 4, 4, id="4g and 3g share a GPU"),
        pytest.param("1g.10gb", 0b0000_0000, 7, -1, id="memory free, compute used up"),
    ],
)
def test_start_leaves_the_largest_profiles_possible(profile: str, used: int, compute: int, start: int) -> None:
    assert starts_of("H100-80GB", profile).best[used, compute] == start


@pytest.mark.parametrize(
    ("profile", "times"), [("1g.10gb", 7), ("1g.20gb", 4), ("2g.20gb", 3), ("3g.40gb", 2), ("4g.40gb", 1)]
)
def test_how_many_fit_on_an_empty_gpu(profile: str, times: int) -> None:
    assert starts_of("H100-80GB", profile).times[0, 0] == times


def test_an_instance_counts_as_its_share_of_compute_slices() -> None:
    third, half = instance_of("A100-80GB", "3g.40gb"), instance_of("A30-24GB", "2g.12gb")
    assert third is not None
    assert half is not None
    assert mig_parts(third.compute, third.total_compute) == PARTS_PER_GPU * 3 // 7
    assert mig_parts(half.compute, half.total_compute) == PARTS_PER_GPU // 2


def test_a_gpu_without_mig_has_no_instances() -> None:
    assert instances_of("L40S-48GB") == ()
    assert instance_of("H100-80GB", "1g.5gb") is None
