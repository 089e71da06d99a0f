"""What a scenario file may not say, and how it is told so."""

import pytest

from scheduler.scenario.document import ScenarioError
from scheduler.scenario.reader import read_scenario

HEAD = "name: x\ncluster: {nodes: [{name: n, shape: dgx-h100}]}\nqueues: {q: {}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, gpus_: 1}}\n",
            "f.yaml:5: unknown key `gpus_` in job a; the nearest valid name is `gpus`",
        ),
        (f"{HEAD}polcy: {{}}\n", "f.yaml:4: unknown key `polcy` in the scenario; the nearest valid name is `policy`"),
        (
            f"{HEAD}jobs:\n  - name: a\n    queue: q\n    kind: batch\n",
            "f.yaml:7: `kind` in job a is not supported yet",
        ),
        (
            f"{HEAD}policy: {{consolidate: true}}\n",
            "f.yaml:4: `consolidate` in `policy` of the scenario is not supported yet",
        ),
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, gpus: many}}\n",
            "f.yaml:5: `gpus` in job a: a whole number is expected, not 'many'",
        ),
        (f"{HEAD}jobs:\n  - {{name: a, queue: r}}\n", "f.yaml:5: job a: there is no queue `r`"),
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, memory: 5 Gb}}\n",
            "f.yaml:5: `memory` in job a: a size like 64Gi is expected, not '5 Gb'",
        ),
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, gpus: 1, mig: 1g.10gb}}\n",
            "f.yaml:5: job a: give either `gpus` or `mig`, not both",
        ),
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, mig: 3g.40gb, running: {{worker-0: {{node: n, gpus: [0]}}}}}}\n",
            "f.yaml:5: job a: `start` of a running 3g.40gb is one of 0, 4",
        ),
        (
            f"{HEAD}jobs:\n  - {{name: a, queue: q, gpus: 1, running: {{worker-0: {{node: n, gpus: [8]}}}}}}\n",
            "f.yaml:5: job a: n has 8 GPUs",
        ),
        ("name: x\nqueues: {q: {}}\n", "f.yaml:1: the scenario has no `cluster`, which is required"),
        ("name: x\nname: y\n", "f.yaml:2: `name` is given twice"),
        ("name: [\n", "f.yaml:2: not YAML"),
    ],
)
def test_refusals_name_the_file_the_line_and_the_key(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(text, "f.yaml")
    assert str(caught.value).startswith(message)


def test_a_feature_that_is_not_built_may_be_named_where_it_asks_for_nothing() -> None:
    scenario = read_scenario(f"{HEAD}policy: {{consolidate: false}}\njobs: [{{name: a, queue: q, kind: training}}]\n")
    assert [job.name for job in scenario.jobs] == ["a"]


def test_a_job_on_a_node_that_is_down_has_ended_its_attempt() -> None:
    scenario = read_scenario("""
name: x
cluster: {nodes: [{name: n, shape: dgx-h100, ready: false}, {name: m, shape: dgx-h100, unhealthy_gpus: [3]}]}
queues: {q: {}}
jobs:
  - {name: a, queue: q, gpus: 1, running: {worker-0: {node: n, gpus: [0]}}}
  - {name: b, queue: q, gpus: 1, running: {worker-0: {node: m, gpus: [3]}}}
  - {name: c, queue: q, gpus: 1, running: {worker-0: {node: m, gpus: [4]}}}
""")
    assert scenario.snapshot.waiting.name.tolist() == ["a", "b"]
    assert scenario.snapshot.running.name.tolist() == ["c"]
