"""Fragmentation of nodes and its growth, by hand and against a slow, obvious reading of the definition."""

import numpy as np
import pytest

from scheduler.score.frag.growth import Rest, best_per_node, fragmentation, growth, in_steps
from scheduler.score.frag.mix import Mix, TaskShape
from scheduler.score.frag.tables import PLAIN_F, Tables, Terms

HALF, WHOLE, PAIR = TaskShape(1, 500, 4_000), TaskShape(1, 1_000, 8_000), TaskShape(2, 1_000, 8_000)
BIG_ONLY, CPU_ONLY = TaskShape(1, 1_000, 1_000, models=("big",)), TaskShape(0, 0, 2_000)
MODELS = ("small", "big")


def rest(left: list[list[int]], cpu: int = 64_000, model: int = 0) -> Rest:
    """Nodes with these milli left on their GPUs."""
    count = len(left)
    return Rest(np.full(count, float(cpu)), np.full(count, 1e12), np.array(left), np.full(count, model))


def plain(*tasks: TaskShape) -> Tables:
    return Tables.build(Mix.build(tuple((task, 1.0) for task in tasks), MODELS), None, PLAIN_F)


@pytest.mark.parametrize(
    ("task", "left", "cpu", "expected"),
    [
        pytest.param(HALF, [1000, 400, 600, 0], 64_000, 400, id="crumbs smaller than its share"),
        pytest.param(WHOLE, [1000, 400, 600, 0], 64_000, 1000, id="every GPU that is not whole"),
        pytest.param(PAIR, [1000, 400, 600, 0], 64_000, 2000, id="too few whole GPUs: all is lost on it"),
        pytest.param(WHOLE, [1000, 400, 600, 0], 7_000, 2000, id="too little CPU: all is lost on it"),
        pytest.param(BIG_ONLY, [1000, 0, 0, 0], 64_000, 1000, id="another model: all is lost on it"),
        pytest.param(CPU_ONLY, [1000, 0, 0, 0], 64_000, 1000, id="no GPU asked for: all is lost on it"),
        pytest.param(WHOLE, [0, 0, 0, 0], 64_000, 0, id="nothing free, nothing lost"),
    ],
)
def test_fragmentation_of_one_node_for_one_task(task: TaskShape, left: list[int], cpu: int, expected: int) -> None:
    assert fragmentation(plain(task), rest([left], cpu)) == pytest.approx([expected])


def test_tasks_count_by_their_popularity() -> None:
    mix = Mix.build(((HALF, 3.0), (WHOLE, 1.0)), MODELS)
    assert fragmentation(Tables.build(mix, None, PLAIN_F), rest([[1000, 600]])) == pytest.approx([0.25 * 600])


def test_a_share_goes_where_it_leaves_what_others_can_use() -> None:
    tables = plain(HALF)
    best, gpu = best_of(tables, rest([[1000, 500], [600, 600]]), HALF)
    assert best[0] < best[1]
    assert gpu.tolist() == [0, 0], "equally good GPUs: the first"


def test_one_candidate_per_amount_left() -> None:
    found = growth(plain(HALF), rest([[1000, 1000, 700, 700, 400, 0]]), HALF)
    assert found.gpu.tolist() == [0, 2]


def best_of(tables: Tables, nodes: Rest, task: TaskShape) -> tuple[np.ndarray, np.ndarray]:
    found = growth(tables, nodes, task)
    return best_per_node(len(nodes.cpu), found, found.growth)


def random_world(seed: int) -> tuple[Tables, Rest, TaskShape]:
    """Up to 40 nodes of up to 8 GPUs, a random mix, and a task of it that every node can take."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([160, 230, 470, 500, 810, 1000], size=6)
    tasks = [TaskShape(1, int(size), int(rng.integers(0, 20_000))) for size in sizes]
    tasks += [TaskShape(int(n), 1000, int(rng.integers(1, 50_000))) for n in (2, 4, 8)] + [CPU_ONLY, BIG_ONLY]
    mix = Mix.build(tuple((task, float(rng.random())) for task in tasks), MODELS)
    tables = Tables.build(mix, np.floor(np.arange(1001) / 100) / 10, Terms(alpha=7.0, beta=0.3))
    left = rng.choice([0, 190, 420, 500, 1000], size=(int(rng.integers(1, 41)), 8))
    task = tasks[int(rng.integers(len(tasks) - 1))]
    left[:, : max(task.gpus, 1)] = 1000
    nodes = Rest(
        rng.uniform(50_000, 99_000, len(left)).round(), np.full(len(left), 1e12), left, rng.integers(0, 2, len(left))
    )
    return tables, nodes, task


@pytest.mark.parametrize("seed", range(25))
def test_growth_is_the_difference_of_the_slow_definition(seed: int) -> None:
    tables, nodes, task = random_world(seed)
    found = growth(tables, nodes, task)
    for row, gpu, grown in zip(found.row, found.gpu, found.growth, strict=True):
        before = (int(nodes.cpu[row]), nodes.left[row].tolist(), MODELS[nodes.model[row]])
        assert grown == pytest.approx(
            slow_value(tables, *placed(task, gpu, *before)) - slow_value(tables, *before), abs=0.1
        )


@pytest.mark.parametrize("seed", range(10))
def test_scoring_some_nodes_equals_scoring_all(seed: int) -> None:
    tables, nodes, task = random_world(seed)
    all_found = growth(tables, nodes, task)
    best, gpu = best_per_node(len(nodes.cpu), all_found, in_steps(tables, all_found))
    for row in range(len(nodes.cpu)):
        found = growth(tables, nodes.take(np.array([row])), task)
        one, one_gpu = best_per_node(1, found, in_steps(tables, found))
        assert (one[0], one_gpu[0]) == (best[row], gpu[row])


def placed(task: TaskShape, gpu: int, cpu: int, left: list[int], model: str) -> tuple[int, list[int], str]:
    """The node with the task on it."""
    after = list(left)
    chosen = [int(gpu)] if task.is_share else [i for i, rest in enumerate(left) if rest == 1000][: task.gpus]
    for i in chosen:
        after[i] -= task.milli
    return cpu - task.cpu, after, model


def slow_value(tables: Tables, cpu: int, left: list[int], model: str) -> float:
    """F + beta * M + alpha * waste of one node, task by task and GPU by GPU."""
    mix, free, value = tables.mix, sum(left), 0.0
    for m in range(len(mix.cpu)):
        gpus, milli, per_cpu = int(mix.gpus[m]), int(mix.milli[m]), int(mix.cpu[m])
        if gpus and mix.allowed_mask[MODELS.index(model), m]:
            ways = sum(rest // milli for rest in left) // gpus
            times = min(ways, cpu // per_cpu) if per_cpu else ways
        else:
            times = 0
        crumbs = sum(rest for rest in left if rest < milli) if times else free
        value += mix.share[m] / 1e6 * crumbs
        value += tables.terms.beta * mix.demand[m] / 1e6 * (free - times * gpus * milli)
    return value + tables.terms.alpha * sum(float(tables.waste[rest]) for rest in left) / 1e6
