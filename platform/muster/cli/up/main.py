"""`muster up` on the command line."""

import typer


def up() -> None:
    """Run the whole platform on this machine, until Ctrl-C.

    Starts PostgreSQL and Redis (unless DATABASE_URL and REDIS_URL name others), a Kubernetes emulator with
    the demo cluster (unless MUSTER_KUBECONFIG names a real one), and every process of the platform.
    MUSTER_HOST and MUSTER_PORT say where it listens, MUSTER_DATA_DIR where it keeps its data.
    """
    from muster.cli.up.run import run

    raise typer.Exit(run())
