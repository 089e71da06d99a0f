"""`make bench [ONLY=prefix]`: runs the benchmarks, prints a table, writes build/bench.json.

A benchmark is a module here with a function `rows()` that gives dictionaries of name, value, unit,
better (higher | lower), reference and source. Each runs in a process of its own: Django reads its
settings once, and memory that one left behind would be in the figures of the next.
"""

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).resolve().parents[2] / "build" / "bench.json"
MARK = "bench-row "

# What the names of its rows begin with: the module.
BENCHMARKS = {
    "loop.up": "up_times",
    "loop.": "loop_times",
    "core.load": "load_times",
    "core.growth": "core_growth",
    "core.": "core_times",
    "kai.": "kai_times",
    "live.": "live_delivery",
    "page.": "page_speed",
    "map.": "page_speed",
    "openb.": "openb_rows",
    "topo.": "topo_bottleneck",
    "emulator.": "emulator_rate",
}

Row = dict[str, Any]


def main(only: str) -> int:
    """Run every benchmark that may give rows whose names begin with `only`. Exit code 1 when one failed."""
    table, failed = [], False
    for prefix, module in BENCHMARKS.items():
        is_wanted = prefix.startswith(only) or only.startswith(prefix)
        if is_wanted and find_spec(f"tests.perf.{module}"):
            rows, code = run(module)
            table += [row for row in rows if row["name"].startswith(only)]
            failed |= code != 0
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(table, indent=1) + "\n")
    print(f"{len(table)} rows in {OUTPUT}")
    return int(failed)


def run(module: str) -> tuple[list[Row], int]:
    """The rows of one benchmark, shown as they come, and its exit code."""
    command = [sys.executable, "-m", "tests.perf", "--rows-of", module]
    rows: list[Row] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                rows.append(json.loads(line.removeprefix(MARK)))
                print(shown(rows[-1]), flush=True)
            else:
                print(line, end="", flush=True)
    return rows, process.returncode


def shown(row: Row) -> str:
    """One line of the table."""
    arrow = "↑" if row["better"] == "higher" else "↓"
    return f"{row['name']:<32} {row['value']:>12,.6g} {row['unit']:<18} {arrow} reference {row['reference'] or '—'}"


def give_rows_of(module: str) -> None:
    """In the child: run one benchmark and print each of its rows for the parent."""
    for row in import_module(f"tests.perf.{module}").rows():
        print(MARK + json.dumps(row), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rows-of"]:
        give_rows_of(sys.argv[2])
    else:
        sys.exit(main("".join(sys.argv[1:2])))
