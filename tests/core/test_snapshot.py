"""A snapshot follows changes row by row, and what follows from its nodes is kept while none of them changes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from scheduler.cycle import plan
from scheduler.model.applied import applied
from scheduler.model.columns import Columns, objects
from scheduler.model.policy import Policy
from scheduler.model.snapshot import Changes, Snapshot, differences, equal
from scheduler.scenario.reader import read_scenario

TEXT = """
name: world
cluster:
  levels: [rack]
  nodes:
    - {name: "a[0-3]", shape: dgx-h100, rack: r0}
    - {name: "b[0-1]", shape: l40s-pcie4, rack: r1, others: {gpus: [0], cpus: 4}}
queues: {q: {limit: 40}, r: {}}
jobs:
  - {name: old, queue: q, gpus: 4, cpus: 8, running: {worker-0: {node: a1, gpus: [0, 1, 2, 3]}}}
  - {name: part, queue: r, gpu_fraction: 0.5, running: {worker-0: {node: b0, gpus: [2]}}}
  - {name: mine, queue: q, workers: 2, gpus: 8, submitted: 1}
  - {name: slice, queue: r, mig: 2g.20gb, submitted: 2}
  - {name: late, queue: r, workers: 30, gpus: 1, submitted: 3}
"""


def world(text: str = TEXT) -> Snapshot:
    return read_scenario(text).snapshot


def with_column(table: Any, **columns: Any) -> Any:
    """The table with some columns replaced."""
    return type(table)(**{field.name: columns.get(field.name, getattr(table, field.name)) for field in fields(table)})


def test_rows_may_come_in_any_order() -> None:
    one = world()
    turned = replace(
        one,
        nodes=one.nodes.take(np.arange(len(one.nodes))[::-1]),
        waiting=one.waiting.take(np.arange(len(one.waiting))[::-1]),
        queues=one.queues[::-1],
    )
    assert equal(one, turned)


def test_changes_lead_to_what_is_built_from_nothing() -> None:
    before = world()
    after = world(TEXT.replace("a[0-3]", "a[0-2]").replace("priority: 1", "").replace("{limit: 40}", "{limit: 16}"))
    # Node a3 (key 4) is gone; b0 and b1 are registered anew under the keys of the second file.
    changes = Changes(nodes=after.nodes.take(after.nodes.key >= 4), gone_nodes=(6,), queues=after.queues)
    moved = Changes(running=after.running, workers=after.workers)
    followed = before.changed(changes).changed(moved)
    assert differences(followed, after) == ()
    assert equal(followed.changed(moved), after)


def test_a_started_job_leaves_the_waiting_table() -> None:
    before = world()
    decided = plan(before, Policy(), now=5.0)
    after = applied(before, decided, now=5.0)
    started = {unit.job for unit in decided.units}
    assert started == {3, 4}
    assert set(after.waiting.key.tolist()) == {5}
    assert set(after.running.key.tolist()) == {1, 2, 3, 4}
    free = np.bitwise_count(before.occupancy.free).sum() - np.bitwise_count(after.occupancy.free).sum()
    assert free == 17  # sixteen whole ones, and one that is partitioned


def test_what_follows_from_the_nodes_is_kept_while_none_changes() -> None:
    snapshot = world()
    layout, occupancy = snapshot.layout, snapshot.occupancy
    less = snapshot.changed(Changes(gone_jobs=(5,)))
    assert less.layout is layout
    assert less.changed(Changes(waiting=snapshot.waiting.take(snapshot.waiting.key == 5))).occupancy is not None
    cordoned = with_column(snapshot.nodes.take(np.array([0])), cordoned=np.array([True]))
    assert snapshot.changed(Changes(nodes=cordoned)).layout is not layout
    assert snapshot.occupancy is occupancy


def test_a_thousand_cycles_without_a_node_event_build_no_table_anew() -> None:
    snapshot = world().changed(Changes(gone_jobs=(3, 4)))
    plan(snapshot, Policy(), now=0.0)
    kept = {key: id(value) for key, value in snapshot.layout.kept.items()}
    for now in range(1_000):
        snapshot = snapshot.changed(Changes(waiting=snapshot.waiting))
        plan(snapshot, Policy(), now=float(now))
    assert {key: id(value) for key, value in snapshot.layout.kept.items()} == kept


def test_planning_changes_nothing_in_the_snapshot() -> None:
    snapshot = world()
    before = {field.name: getattr(snapshot.occupancy, field.name).copy() for field in fields(snapshot.occupancy)}
    first = plan(snapshot, Policy(), now=0.0)
    assert all(np.array_equal(getattr(snapshot.occupancy, name), column) for name, column in before.items())
    assert plan(snapshot, Policy(), now=0.0).units == first.units


def test_a_plan_on_what_it_made_is_settled() -> None:
    snapshot = world()
    after = applied(snapshot, plan(snapshot, Policy(), now=0.0), now=0.0)
    assert plan(after, Policy(), now=0.0).is_settled


def test_names_decide_nothing() -> None:
    snapshot = world()
    other = replace(
        snapshot,
        nodes=with_column(snapshot.nodes, name=objects(reversed(snapshot.nodes.name.tolist()))),
        waiting=with_column(snapshot.waiting, name=objects("zyx")),
        queues=tuple(replace(queue, name=f"z{9 - queue.key}") for queue in snapshot.queues),
    )
    assert plan(other, Policy(), now=0.0).units == plan(snapshot, Policy(), now=0.0).units


@pytest.mark.parametrize(
    ("table", "column", "wrong"),
    [("workers", "node", 99), ("workers", "job", 99)],
)
def test_a_reference_to_nothing_is_an_error_that_names_it(table: str, column: str, wrong: int) -> None:
    snapshot = world()
    rows: Columns = getattr(snapshot, table)
    bad = with_column(rows, **{column: np.full(len(rows), wrong)})
    with pytest.raises(KeyError, match=r"unknown (node|job) 99"):
        _ = replace(snapshot, **{table: bad}).occupancy


def test_a_key_may_occur_once() -> None:
    snapshot = world()
    with pytest.raises(ValueError, match="a key occurs twice"):
        replace(snapshot, nodes=snapshot.nodes.concat(snapshot.nodes))


def test_an_empty_world_has_an_empty_plan() -> None:
    snapshot = world("name: x\ncluster: {nodes: []}\nqueues: {q: {}}\njobs: [{name: j, queue: q, gpus: 1}]\n")
    decided = plan(snapshot, Policy(), now=0.0)
    assert [verdict.reason for verdict in decided.verdicts] == ["NoMatchingNodes"]
