"""`muster login`."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from muster.cli.client import Muster
from muster.cli.output import told_errors


def login(
    address: Annotated[str, typer.Argument(help="Where the platform is, as https://muster.example.org")],
    username: Annotated[str, typer.Option(prompt=True)],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, envvar="MUSTER_PASSWORD")],
) -> None:
    """Sign this machine in; the token lives 30 days."""
    from muster.cli.credentials import keep

    address = address if "://" in address else f"https://{address}"
    with told_errors(), Muster(address) as muster:
        token = muster.login(username, password, name=f"muster login on {platform.node()}")
    path = keep(muster.url, token)
    print(f"Signed in to {muster.url} as {username}; the token is in {path}.")
