"""The command `muster`. A subcommand's module is imported when it is called: `muster plan` must not wait for Django."""

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

# name: (module:function, what the list of commands says about it)
COMMANDS = {
    "up": ("muster.cli.up.main:up", "Run the whole platform on this machine."),
    "login": ("muster.cli.login:login", "Sign this machine in."),
    "submit": ("muster.cli.jobs:submit", "Submit a job file."),
    "jobs": ("muster.cli.jobs:jobs", "List jobs, newest first."),
    "show": ("muster.cli.jobs:show", "Show a job, its workers and its story."),
    "logs": ("muster.cli.jobs:logs", "Print the logs of a job's workers."),
    "explain": ("muster.cli.jobs:explain", "Say why a job waits, and what would help."),
    "cancel": ("muster.cli.jobs:cancel", "Cancel jobs."),
    "hold": ("muster.cli.jobs:hold", "Keep queued jobs from starting."),
    "release": ("muster.cli.jobs:release", "Let held jobs start."),
    "queues": ("muster.cli.cluster:queues", "List queues with their quotas and what they use."),
    "nodes": ("muster.cli.cluster:nodes", "List nodes with their GPUs."),
    "fits": ("muster.cli.fits:fits", "Say what could start now, by size and level."),
    "doctor": ("muster.cli.doctor:doctor", "Check each part of a running platform and say what to do."),
    "emulator": ("muster.emulator.command:emulator", "Serve a Kubernetes API from memory, with simulated nodes."),
    "plan": ("muster.cli.plan:plan", "Schedule a scenario file and explain the result."),
}


class LazyGroup(TyperGroup):
    """Lists every command from the table, and imports only the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the real command in the place of its entry before it is looked up."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = _load(args[0])
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="muster",
    cls=LazyGroup,
    help="Share a Kubernetes GPU cluster between teams: whole gangs, close together, fairly, and explained.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _load(name: str) -> Any:
    module, _, function = COMMANDS[name][0].partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(getattr(import_module(module), function))
    return typer.main.get_command(alone)


def _entry() -> None:
    """What stands in the table of commands; never called, since `resolve_command` loads the real one."""


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(_entry)


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        print(version("muster"))
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of `muster` itself."""


def main() -> None:
    """Entry point of the console script."""
    app(prog_name="muster")


if __name__ == "__main__":
    main()
