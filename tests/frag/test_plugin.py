"""The score plugin `fragmentation`, as jobs meet it."""

from dataclasses import replace

import pytest

from muster.cycle.mix import usable_share
from scheduler.cycle import plan
from scheduler.model.policy import PluginUse, Point
from scheduler.registry import default_profile, validate
from scheduler.score.frag.mix import TaskShape, WorkloadMix
from scheduler.score.frag.plugin import Fragmentation
from tests.core.stories import tell

TWO_NODES = (
    "cluster: {nodes: [{name: a, shape: dgx-h100}, {name: b, shape: dgx-h100, others: {gpus: [0, 1, 2, 3, 4, 5]}}]}\n"
)


def node_of(text: str, mix: WorkloadMix) -> int:
    """Key of the node (1 = the first) on which the one waiting job starts."""
    scenario = tell(text + "policy: {placement: fragmentation}\n").scenario
    decided = plan(scenario.snapshot, replace(scenario.policy, mix=mix), 0.0)
    return decided.units[0].workers[0].node


@pytest.mark.parametrize(
    ("usual", "node"),
    [
        pytest.param(8, 2, id="eight-GPU jobs are usual: spare the whole node"),
        pytest.param(2, 1, id="two-GPU jobs are usual: the last two of b are worth more than an odd one on a"),
    ],
)
def test_a_job_goes_where_it_spares_what_others_need(usual: int, node: int) -> None:
    assert node_of(TWO_NODES + "jobs: [{name: j, queue: q, gpus: 1}]\n", ((TaskShape(usual, 1000), 1.0),)) == node


def test_equal_growth_goes_to_the_node_registered_first() -> None:
    text = "cluster: {nodes: [{name: 'n[0-3]', shape: dgx-h100}]}\njobs: [{name: j, queue: q, gpus: 8}]\n"
    assert node_of(text, ((TaskShape(8, 1000), 1.0),)) == 1


def test_without_a_mix_the_jobs_of_the_snapshot_are_the_mix() -> None:
    text = (
        TWO_NODES
        + "jobs: [{name: j, queue: q, gpus: 1}, {name: big, queue: q, gpus: 8}]\npolicy: {placement: fragmentation}\n"
    )
    story = tell(text)
    assert (story.nodes("j"), story.nodes("big")) == (["b"], ["a"])


def test_profile_takes_phi_as_an_argument() -> None:
    phi = tuple(usable_share(((TaskShape(1, 500), 1.0),)).tolist())
    profile = default_profile()
    profile = replace(
        profile, plugins={**profile.plugins, Point.SCORE: (PluginUse("fragmentation", args={"phi": phi}),)}
    )
    assert validate(profile) == []
    text = "cluster: {nodes: [{name: a, shape: dgx-h100}]}\njobs: [{name: j, queue: q, gpu_fraction: 0.5}]\n"
    assert tell(text, profile).gpus("j") == [[0]]


@pytest.mark.parametrize("arguments", [{"phi": (0.0, 1.0)}, {"step": 0}])
def test_bad_arguments_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"phi|step"):
        Fragmentation(**arguments)  # type: ignore[arg-type]
