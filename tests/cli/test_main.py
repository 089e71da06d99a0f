"""The command `muster` itself: quick, and honest about what it does not know."""

import subprocess
import sys

import pytest

from muster.cli.main import COMMANDS


def muster(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "muster.cli.main", *arguments], capture_output=True, text=True, check=False
    )


def test_help_lists_every_command() -> None:
    shown = muster("--help").stdout
    assert [name for name in COMMANDS if f"\n  {name} " not in shown] == []


def test_help_needs_neither_django_nor_the_cluster_client() -> None:
    code = (
        "import sys\n"
        "from muster.cli.main import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'django', 'celery', 'kubernetes', 'numpy', 'httpx', 'redis', 'psycopg'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_imported(name: str) -> None:
    done = muster(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"muster {name}" in done.stdout


def test_unknown_command_suggests_the_nearest() -> None:
    done = muster("docter")
    assert done.returncode == 2
    assert "Did you mean 'doctor'?" in done.stderr
