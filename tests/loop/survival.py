"""The survival run, as a program: `python -m tests.loop.survival --gangs 50 --blows 20 --seed 7`. Prints its figures as JSON.

A process of its own, since Django reads its settings once and this needs those of its stage.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any

from tests.support.stage import Stage


def main(arguments: list[str]) -> int:
    """Exit code 1 when anything is not as it must be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gangs", type=int, default=50)
    parser.add_argument("--blows", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with Stage() as stage:
        stage.start_emulator("--cluster", "empty", "--nodes", "8")
        figures: dict[str, Any] = {}
        try:
            with stage.django():
                from tests.loop.run import run

                figures = run(stage, chosen.gangs, chosen.blows, random.Random(chosen.seed))
        finally:
            if figures.get("complaints", ["broke off"]):
                for name in ("cycle", "kube", "informer", "web"):
                    print(f"--- {name}\n{stage.log(name)}", file=sys.stderr)
    print(json.dumps({"seed": chosen.seed, **figures}))
    return bool(figures["complaints"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
