"""Where this machine's token lies: MUSTER_URL and MUSTER_TOKEN, else what `muster login` kept, else what `muster up` left."""

from __future__ import annotations

import json
import os
from pathlib import Path

from muster.cli.client import NotSignedIn
from muster.config.env import env

LOGIN_FILE = Path("~/.config/muster/login.json")
LOCAL_FILE = "cli.json"


def find() -> tuple[str, str]:
    """Address and token."""
    if env().url:
        return env().url, env().token
    login = _read(LOGIN_FILE.expanduser())
    if login:
        return login["url"], login["token"]
    local = _read(env().data_dir / LOCAL_FILE)
    if local:
        return env().address, local["token"]
    raise NotSignedIn("You are not signed in: run `muster login ADDRESS`, or start a platform here with `muster up`.")


def keep(url: str, token: str) -> Path:
    """Remember a token for this person alone."""
    path = LOGIN_FILE.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({"url": url, "token": token}, file)
    fresh.replace(path)
    return path


def _read(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and "token" in found else {}
