"""`muster plan`: decide a scenario file in memory and explain the result. Needs no platform, no database, no cluster."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from scheduler.cycle import plan as decide
from scheduler.scenario.document import ScenarioError
from scheduler.scenario.reader import read_scenario
from scheduler.scenario.report import report

BAD_INPUT = 2


def plan(
    file: Annotated[Path, typer.Argument(help="A scenario file, for instance one written by `muster snapshot`.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Schedule a scenario file and explain the result."""
    try:
        scenario = read_scenario(file.read_text(encoding="utf-8"), str(file))
    except (ScenarioError, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    started = time.perf_counter()
    decided = decide(scenario.snapshot, scenario.policy, scenario.now)
    told = report(scenario, decided, time.perf_counter() - started)
    if as_json:
        print(json.dumps(told))
    else:
        show(told)


def show(told: dict[str, Any]) -> None:
    """The same for people."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colors = {"placed": "green", "waiting": "yellow", "kept": "dim"}
    table = Table("job", "decision", "where", "why and what would help", title=told["scenario"], title_justify="left")
    for name, job in told["jobs"].items():
        where = "\n".join(_where(one) for one in job["placement"][:8])
        if len(job["placement"]) > 8:
            where += f"\n… {len(job['placement']) - 8} more"
        decision = job["reason"] or job["decision"]
        table.add_row(name, Text(decision, style=colors.get(job["decision"], "")), where, _why(job))
    console = Console()
    console.print(table)
    free = told["fragmentation"]
    console.print(
        f"{free['free_gpus']} GPUs are left free, {free['free_whole_nodes']} nodes wholly. Decided in {told['elapsed_ms']:g} ms."
    )


def _where(worker: dict[str, Any]) -> str:
    gpus = ",".join(map(str, worker["gpus"]))
    part = f" ×{worker['fraction']:g}" if "fraction" in worker else f" {worker['mig']}" if "mig" in worker else ""
    return f"{worker['worker']} → {worker['node']}" + (f" GPU {gpus}{part}" if gpus else "")


def _why(job: dict[str, Any]) -> str:
    funnel = [f"{step['left']} nodes left after {step['cause']} ({step['role']})" for step in job.get("funnel", [])]
    return "\n".join([job["message"], *funnel])


if __name__ == "__main__":
    typer.run(plan)
