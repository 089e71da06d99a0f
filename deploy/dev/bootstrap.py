#!/usr/bin/env python3
"""Makes a checkout runnable: `bootstrap.py [base|dev] [--no-front]`. Standard library only.

Needs python3 ≥ 3.11 and nothing else: pip, venv and Node.js are found or fetched. Everything is keyed by
a hash of what it is made from, so that a second call does nothing and takes a fraction of a second.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fetch_uv  # type: ignore[import-not-found]  # beside this file, no package

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
VENV = ROOT / ".venv"
FRONTEND = ROOT / "frontend"
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = (20, 19)
# What the front end is made from; templates because Tailwind looks in them for class names.
FRONTEND_SOURCES = [
    *("package.json", "package-lock.json", "vite.config.ts", "tsconfig.json", "src", "styles", "public", "scripts"),
    "../platform/muster/web/templates",
]


def main() -> None:
    """Install, build, or find that nothing is to be done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("level", choices=("base", "dev"), nargs="?", default="base")
    parser.add_argument("--no-front", action="store_true", help="leave the front end alone")
    options = parser.parse_args()
    use_recent_python()
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "bootstrap.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two `make` at once take turns
        make_venv()
        with ThreadPoolExecutor() as pool:
            jobs = [pool.submit(install_python, options.level)]
            if not options.no_front:
                jobs.append(pool.submit(build_frontend))
            for job in jobs:
                job.result()


def use_recent_python() -> None:
    """Start again under a newer Python when this one is too old and another is there."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in range(15, OLDEST_PYTHON[1] - 1, -1):
        if newer := shutil.which(f"python3.{minor}"):
            os.execv(newer, [newer, *sys.argv])
    fail(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")


def make_venv() -> None:
    """An environment of our own; uv makes it without ensurepip, which Debian leaves out."""
    if not (VENV / "bin" / "python").exists():
        run([uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)])


def install_python(level: str) -> None:
    """The locked packages, checked by hash, and the checkout itself, editable."""
    requirements = ROOT / "requirements" / f"{level}.txt"
    key = digest([requirements, ROOT / "pyproject.toml"], level)
    stamp = VENV / f".installed-{level}"
    if is_current(stamp, key):
        return
    began = say(f"installing Python packages ({level})")
    pip = [uv(), "pip", "install", "--quiet", "--python", str(VENV / "bin" / "python")]
    run([*pip, "--require-hashes", "-r", str(requirements)])
    run([*pip, "--no-deps", "--editable", str(ROOT)])
    stamp.write_text(key)
    say("Python packages", began)


def build_frontend() -> None:
    """Install the front end's packages when their lock changed, build when any source did."""
    if not (FRONTEND / "package.json").exists():
        return
    sources = [FRONTEND / name for name in FRONTEND_SOURCES]
    key, stamp = digest(sources), BUILD / "frontend.key"
    if is_current(stamp, key) and (FRONTEND / "dist").is_dir():
        return
    environment = os.environ | {"PATH": f"{node_directory()}{os.pathsep}{os.environ.get('PATH', '')}"}
    lock_key, lock_stamp = digest([FRONTEND / "package-lock.json"]), FRONTEND / "node_modules" / ".installed"
    if not is_current(lock_stamp, lock_key):
        began = say("installing the front end's packages")
        run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=FRONTEND, env=environment)
        lock_stamp.write_text(lock_key)
        say("front end's packages", began)
    began = say("building the front end")
    run(["npm", "run", "--silent", "build"], cwd=FRONTEND, env=environment)
    # Anew: the build writes into `public` (the sprite of icons).
    stamp.write_text(digest(sources))
    say("front end", began)


def node_directory() -> Path:
    """The folder of a Node.js that is new enough: the machine's own, else one from a wheel."""
    own = shutil.which("node")
    if own and shutil.which("npm") and node_version(own) >= OLDEST_NODE:
        return Path(own).parent
    wheel = VENV / "bin" / "node"
    if not wheel.exists():
        began = say("fetching Node.js")
        pip = [uv(), "pip", "install", "--quiet", "--python", str(VENV / "bin" / "python")]
        run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "node.txt")])
        say("Node.js", began)
    return wheel.parent


def node_version(node: str) -> tuple[int, ...]:
    """(20, 19, 4) for "v20.19.4"; empty, which is older than everything, when it does not run."""
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    parts = done.stdout.strip().lstrip("v").split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def uv() -> str:
    """The path of uv, fetched the first time it is asked for."""
    return str(fetch_uv.find(ROOT / "requirements" / "uv.txt", BUILD / "uv"))


def digest(paths: Iterable[Path], *words: str) -> str:
    """A hash of the files, those in folders too, their names, and the words."""
    total = hashlib.sha256(repr((words, sys.version_info[:2])).encode())
    for path in paths:
        files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.exists():
                total.update(f"{os.path.relpath(file, ROOT)}\0".encode())
                total.update(file.read_bytes())
    return total.hexdigest()


def is_current(stamp: Path, key: str) -> bool:
    """Whether what the stamp stands for was made from these very sources."""
    return stamp.exists() and stamp.read_text() == key


def run(command: list[str], *, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run to the end; a failure shows what it said and ends us."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env or fetch_uv.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        fail(f"this failed: {' '.join(command)}\n{done.stdout}")


def say(what: str, began: float | None = None) -> float:
    """One line on the terminal: beginning, or done after how long. Returns the time."""
    now = time.monotonic()
    print(f"  {what} …" if began is None else f"  {what}: {now - began:.1f} s", flush=True)
    return now


def fail(message: str) -> None:
    """Leave with a sentence."""
    sys.exit(f"bootstrap: {message}")


if __name__ == "__main__":
    main()
