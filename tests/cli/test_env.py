"""Settings from the environment: typed, defaulted, and refused by name."""

from pathlib import Path

import pytest

from muster.config.env import BadEnvironmentError, Env, env


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "MUSTER_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MUSTER_DATA_DIR", str(tmp_path))


def test_defaults_are_our_own_engines() -> None:
    settings = Env()
    assert settings.postgres.startswith("postgresql://muster@%2F")
    assert settings.redis == f"unix://{settings.socket_dir}/redis.sock?db=0"
    assert settings.broker == f"redis+socket://{settings.socket_dir}/redis.sock?virtual_host=0"
    assert len(str(settings.socket_dir / ".s.PGSQL.5432")) < 107


def test_given_servers_replace_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://u@db/muster")
    monkeypatch.setenv("REDIS_URL", "rediss://cache:6380/2")
    settings = Env()
    assert (settings.postgres, settings.redis, settings.broker) == (
        "postgres://u@db/muster",
        "rediss://cache:6380/2",
        "rediss://cache:6380/2",
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MUSTER_PORT", "70000", "MUSTER_PORT='70000': "),
        ("MUSTER_PORT", "http", "MUSTER_PORT='http': "),
        ("MUSTER_DEBUG", "perhaps", "MUSTER_DEBUG='perhaps': "),
        ("MUSTER_PATH_PREFIX", "muster", "MUSTER_PATH_PREFIX='muster': must begin with \"/\""),
        ("DATABASE_URL", "mysql://x", "DATABASE_URL='mysql://x': must begin with postgresql://"),
        ("REDIS_URL", "amqp://x", "REDIS_URL='amqp://x': must begin with redis://"),
        ("MUSTER_KUBECONFIG", "/nowhere", "MUSTER_KUBECONFIG='/nowhere': no such file: /nowhere"),
        ("MUSTER_LOG_LEVEL", "LOUD", "MUSTER_LOG_LEVEL='LOUD': "),
    ],
)
def test_bad_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadEnvironmentError) as raised:
        env.__wrapped__()
    assert str(raised.value).startswith(message)


def test_secret_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    first, second = Env().signing_key(), Env().signing_key()
    assert first == second
    assert len(first) >= 48
    assert oct((tmp_path / "secret_key").stat().st_mode & 0o777) == "0o600"
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.parametrize(
    ("host", "address"),
    [("0.0.0.0", "http://127.0.0.1:8000/"), ("::1", "http://[::1]:8000/"), ("gpu.lan", "http://gpu.lan:8000/")],
)
def test_address_is_one_a_browser_can_open(monkeypatch: pytest.MonkeyPatch, host: str, address: str) -> None:
    monkeypatch.setenv("MUSTER_HOST", host)
    monkeypatch.setenv("MUSTER_PORT", "8000")
    assert Env().address == address
