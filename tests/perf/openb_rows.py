"""Rows of the openb benchmark, with the published and the reference results beside them.

python -m tests.perf.openb_rows --seeds 10 default        # a table; variants and seeds to choose
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scheduler.model.policy import PlacementPolicy
from tests.perf import openb_core, openb_run
from tests.perf.openb_run import Outcome
from tests.perf.openb_trace import SOURCE, Trace, data_directory, load

Row = dict[str, Any]

FIRST_SEED = 42
REPORTED = (100, 130)
LAST = 1.3


class Known(NamedTuple):
    """Allocation at 100 and 130 % arrived, FGD as published and F+ of the reference program (beta = 0.05)."""

    fgd: tuple[float, float]
    reference: tuple[float, float]


KNOWN: dict[str, Known] = {
    "default": Known((95.23, 95.39), (95.71, 95.83)),
    "cpu050": Known((95.00, 95.21), (95.71, 95.88)),
    "cpu100": Known((95.21, 95.35), (95.78, 95.90)),
    "cpu200": Known((94.82, 95.05), (95.68, 95.82)),
    "cpu250": Known((93.20, 93.41), (93.39, 93.65)),
    "gpushare40": Known((93.96, 94.15), (94.30, 94.48)),
    "gpushare60": Known((91.26, 91.40), (91.94, 92.17)),
    "gpushare80": Known((89.08, 89.31), (89.91, 90.13)),
    "gpushare100": Known((86.64, 86.90), (87.65, 87.93)),
    "gpuspec10": Known((94.66, 94.95), (95.45, 95.57)),
    "gpuspec20": Known((94.66, 94.84), (95.52, 95.69)),
    "gpuspec25": Known((93.91, 94.74), (93.97, 95.08)),
    "gpuspec33": Known((87.84, 94.55), (88.26, 95.38)),
    "multigpu20": Known((95.53, 95.65), (96.03, 96.13)),
    "multigpu30": Known((96.36, 96.46), (96.56, 96.66)),
    "multigpu40": Known((96.91, 96.99), (96.90, 96.98)),
    "multigpu50": Known((97.09, 97.18), (97.24, 97.32)),
}
CONTROLS = {"random": (86.30, 87.47), "bestfit": (92.86, 93.08), "fgd": (95.23, 95.39)}
"""Published results on the default trace of policies that are here to show that the protocol is right."""
OURS = ("pack", "spread", "fragmentation")


def rows(*, variants: Sequence[str] = tuple(KNOWN), seeds: int = 10, other_seeds: int = 3) -> Iterator[Row]:
    """Allocation per variant and policy: `seeds` runs on the default trace, `other_seeds` on each variant."""
    folder = data_directory()
    if folder is None:
        print("openb: SKIPPED, the trace is not here (set OPENB_DATA to its folder)", file=sys.stderr)
        return
    for variant in variants:
        is_default = variant == "default"
        for policy in (*OURS, *CONTROLS) if is_default else OURS:
            yield from _measured(folder, variant, policy, seeds if is_default else other_seeds)


def _measured(folder: Path, variant: str, policy: str, seeds: int) -> Iterator[Row]:
    trace = load(folder, variant)
    is_planned = _is_planned(trace, policy)
    outcomes = [_run(trace, policy, FIRST_SEED + i, is_planned) for i in range(seeds)]
    name, published = f"openb.{variant}.{policy}", CONTROLS.get(policy, KNOWN[variant].fgd)
    against = policy if policy in CONTROLS else "FGD"
    how = f"{'through plan()' if is_planned else 'the score alone'}, {seeds} seeds"
    for at, reference in zip(REPORTED, published, strict=True):
        values = [outcome.allocated[at] for outcome in outcomes]
        yield {
            "name": f"{name}.{at}",
            "value": round(float(np.mean(values)), 2),
            "unit": "% of GPUs allocated",
            "better": "higher",
            "reference": reference,
            "source": f"{SOURCE}; published {against}; {how}, sd {np.std(values):.2f}",
        }
    if policy == "fragmentation":
        yield from _further(name, outcomes)


def _is_planned(trace: Trace, policy: str) -> bool:
    """Ours run through plan(). Where tasks name models, `fragmentation` is replayed: plan() would break its ties by model."""
    names_models = any(task.models for task in trace.tasks)
    return policy in OURS and not (policy == "fragmentation" and names_models)


def _run(trace: Trace, policy: str, seed: int, is_planned: bool) -> Outcome:
    if is_planned:
        return openb_core.run(trace, PlacementPolicy(policy), seed, until=LAST)
    return openb_run.run(trace, policy, seed, until=LAST)


def _further(name: str, outcomes: list[Outcome]) -> Iterator[Row]:
    """When the first eight-GPU task was refused (130 = never), and the time of a decision."""
    yield {
        "name": f"{name}.first_refused_8",
        "value": round(min(100 * LAST, *(outcome.first_refused_8 for outcome in outcomes)), 1),
        "unit": "% arrived, earliest seed",
        "better": "higher",
        "reference": None,
        "source": SOURCE,
    }
    yield {
        "name": f"{name}.decision",
        "value": round(float(np.mean([outcome.microseconds for outcome in outcomes]))),
        "unit": "us of CPU time",
        "better": "lower",
        "reference": 1_000,
        "source": "1,213 nodes, one core, filters included; the bound is ours",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*", default=list(KNOWN))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--other-seeds", type=int, default=3)
    chosen = parser.parse_args()
    for row in rows(variants=chosen.variants, seeds=chosen.seeds, other_seeds=chosen.other_seeds):
        print(
            f"{row['name']:44} {row['value']:>8} {row['unit']:26} reference {row['reference']}  ({row['source']})",
            flush=True,
        )


if __name__ == "__main__":
    main()
