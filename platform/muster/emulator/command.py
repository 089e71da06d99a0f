"""The command `muster emulator`."""

import asyncio
import logging
import signal
from pathlib import Path
from typing import Annotated

import typer

from muster.emulator.kubeconfig import write_kubeconfig
from muster.emulator.server import EmulatorServer
from muster.emulator.settings import Settings


def emulator(  # noqa: PLR0913, PLR0917  a command's options
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8001,
    state: Annotated[Path | None, typer.Option(help="File that keeps the cluster over a restart.")] = None,
    cluster: Annotated[str, typer.Option(help="demo, empty, or the path of a cluster file.")] = "demo",
    nodes: Annotated[int, typer.Option(min=0, help="This many generated nodes beside the cluster's.")] = 0,
    shape: Annotated[str, typer.Option(help="Hardware shape of generated nodes.")] = "dgx-h100",
    kubeconfig_out: Annotated[Path | None, typer.Option(help="Write a kubeconfig that leads here.")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="MUSTER_EMULATOR_TOKEN", help="Bearer token that requests must carry.")
    ] = None,
) -> None:
    """Serve a Kubernetes API with simulated GPU nodes, until Ctrl-C."""
    settings = Settings(
        host=host, port=port, state=state, cluster=cluster, nodes=nodes, shape=shape, token=token or None
    )  # fmt: skip
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        asyncio.run(_serve(settings, kubeconfig_out))
    except (OSError, ValueError) as error:
        typer.echo(f"muster emulator: {error}", err=True)
        raise typer.Exit(1) from error


async def _serve(settings: Settings, kubeconfig: Path | None) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with EmulatorServer(settings) as server:
        if kubeconfig is not None:
            write_kubeconfig(kubeconfig, server.url, settings.token)
        typer.echo(f"The emulated cluster answers at {server.url}")
        await stopped.wait()
