"""`python -m muster.emulator`."""

import typer

from muster.emulator.command import emulator

if __name__ == "__main__":
    typer.run(emulator)
