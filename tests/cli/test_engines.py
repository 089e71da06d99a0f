"""PostgreSQL and Redis of our own: as root and not, again and again, over short sockets."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis as redis_client

from muster.cli.up import engines
from muster.cli.up.engines import POSTGRES_FAST, EngineError, Postgres, Redis, check_server, make_socket_dir, wait_until


@pytest.fixture
def sockets() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mst-") as directory:
        make_socket_dir(Path(directory))
        yield Path(directory)


def run(engine: Postgres | Redis) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([*engine.prefix(), *engine.command()], start_new_session=True)
    assert wait_until(engine.answers, seconds=20, process=process)
    return process


def test_postgres_keeps_its_data_over_a_kill(tmp_path: Path, sockets: Path) -> None:
    postgres = Postgres(tmp_path / "postgres", sockets, POSTGRES_FAST | {"fsync": "on", "synchronous_commit": "on"})
    postgres.prepare()
    process = run(postgres)
    with psycopg.connect(host=str(sockets), user="muster", dbname="muster") as connection:
        connection.execute("CREATE EXTENSION btree_gist")
        connection.execute("CREATE TABLE kept AS SELECT 'ä' AS word")
    process.kill()
    process.wait()

    postgres.prepare()
    process = run(postgres)
    with psycopg.connect(host=str(sockets), user="muster", dbname="muster") as connection:
        assert connection.execute("SELECT word, upper(word) FROM kept").fetchone() == ("ä", "Ä")
    process.terminate()
    assert process.wait(timeout=10) == 0


def test_interrupted_initdb_is_begun_again(tmp_path: Path, sockets: Path) -> None:
    (tmp_path / "postgres.new" / "base").mkdir(parents=True)
    postgres = Postgres(tmp_path / "postgres", sockets, POSTGRES_FAST)

    postgres.prepare()

    assert (tmp_path / "postgres" / "PG_VERSION").read_text().strip() == "18"
    assert not (tmp_path / "postgres.new").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_data_changes_hands_when_unshare_stops_working(
    tmp_path: Path, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same data is served in a user namespace today and as `nobody` tomorrow."""
    home = sockets / "deep"  # pytest's own directories are closed to nobody
    sockets.chmod(0o755)
    postgres = Postgres(home / "postgres", sockets, POSTGRES_FAST)
    postgres.prepare()
    nobody = ("setpriv", f"--reuid={engines.NOBODY}", f"--regid={engines.NOBODY}", "--clear-groups")
    monkeypatch.setattr(engines, "other_identity", lambda: nobody)
    make_socket_dir(sockets)

    postgres.prepare()
    process = run(postgres)

    assert (home / "postgres").stat().st_uid == engines.NOBODY
    process.terminate()
    process.wait(timeout=10)


def test_redis_listens_on_its_socket_only(tmp_path: Path, sockets: Path) -> None:
    redis = Redis(tmp_path / "redis", sockets)
    redis.prepare()
    process = run(redis)

    assert oct(redis.socket.stat().st_mode & 0o777) == "0o700"
    with redis_client.Redis(unix_socket_path=str(redis.socket)) as client:
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("save") == {"save": ""}
    process.terminate()
    assert process.wait(timeout=10) == 0


def test_long_socket_path_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="too long for a Unix socket: set TMPDIR"):
        make_socket_dir(tmp_path / ("x" * 100))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_somebody_elses_socket_directory_is_refused(tmp_path: Path) -> None:
    directory = Path(tempfile.mkdtemp(prefix="mst-"))
    os.chown(directory, 12345, 12345)
    with pytest.raises(EngineError, match="belongs to somebody else"):
        make_socket_dir(directory)
    directory.rmdir()


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("DATABASE_URL", "postgresql://muster@127.0.0.1:1/muster"),
        ("REDIS_URL", "redis://127.0.0.1:1/0"),
        ("REDIS_URL", "unix:///nowhere/redis.sock"),
    ],
)
def test_unreachable_server_is_one_sentence(name: str, url: str) -> None:
    with pytest.raises(EngineError, match=f"{name} cannot be reached: .+") as raised:
        check_server(name, url)
    assert "\n" not in str(raised.value)
