"""Finds uv, or fetches it with whatever pip there is; standard library only.

Debian's python3 has neither pip nor ensurepip. In order: a uv on the path; pip as a module; the pip wheel
that ensurepip or Debian's package python3-pip-whl keeps, which runs without being installed; the index
that PIP_INDEX_URL or UV_DEFAULT_INDEX names; and that Debian package, fetched by apt.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import urllib.parse
import urllib.request
import zipfile
from importlib.util import find_spec
from pathlib import Path

DEBIAN_WHEELS = "usr/share/python-wheels"


def find(requirements: Path, home: Path) -> Path:
    """The path of uv: the machine's own or one in `home`, fetched as `requirements` pins it."""
    if own := shutil.which("uv"):
        return Path(own)
    binary = home / "bin" / "uv"
    if not binary.exists():
        print("  fetching uv …", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            _fetch(requirements, home, Path(scratch))
    return binary


def environment() -> dict[str, str]:
    """Our environment with pip's settings in uv's words, and the system's certificates."""
    translated = {
        "UV_DEFAULT_INDEX": os.environ.get("PIP_INDEX_URL"),
        "UV_FIND_LINKS": os.environ.get("PIP_FIND_LINKS"),
        "UV_SYSTEM_CERTS": "1",
    }
    return {name: value for name, value in translated.items() if value} | os.environ


def _fetch(requirements: Path, home: Path, scratch: Path) -> None:
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL")
    pip = _pip_here()
    if pip is None and index:
        return _fetch_from_index(index, requirements, home, scratch)
    pip = pip or _pip_of_debian(scratch)
    if pip is None:
        sys.exit("bootstrap: no pip is here and none could be fetched: install python3-pip, or set PIP_INDEX_URL")
    command = [*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(requirements)]
    subprocess.run(
        [*command, "--disable-pip-version-check", "--root-user-action=ignore", "--target", str(home)], check=True
    )
    return None


def _pip_here() -> list[str] | None:
    """A command that is pip, when the machine has it in any form."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    places = [Path("/") / DEBIAN_WHEELS]
    if (spec := find_spec("ensurepip")) and spec.origin:
        places.append(Path(spec.origin).parent / "_bundled")
    return _pip_in(places)


def _pip_in(places: list[Path]) -> list[str] | None:
    wheels = sorted(wheel for place in places for wheel in place.glob("pip-*.whl"))
    return [sys.executable, f"{wheels[-1]}/pip"] if wheels else None


def _pip_of_debian(scratch: Path) -> list[str] | None:
    """pip out of Debian's package, which need not be installed for it."""
    if not shutil.which("apt-get"):
        return None
    download = ["apt-get", "-qq", "download", "python3-pip-whl"]
    if subprocess.run(download, cwd=scratch, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        # A bare image has no package lists; only root may fetch them.
        subprocess.run(["apt-get", "-qq", "update"], check=False)
        if subprocess.run(download, cwd=scratch, check=False).returncode != 0:
            return None
    for package in scratch.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(scratch)], check=True)
    return _pip_in([scratch / DEBIAN_WHEELS])


def _fetch_from_index(index: str, requirements: Path, home: Path, scratch: Path) -> None:
    """The wheel for this machine from a simple index, checked against the pinned hashes."""
    pinned = requirements.read_text()
    version = re.search(r"^uv==(\S+)", pinned, re.MULTILINE)
    assert version is not None, "requirements/uv.txt pins no uv"
    page = f"{index.rstrip('/')}/uv/"
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = re.findall(r'href="([^"#]+)', answer.read().decode())
    wanted = re.compile(rf"uv-{re.escape(version[1])}-py3-none-{_platform_pattern()}\.whl$")
    wheel = next((link for link in links if wanted.search(link)), None)
    if wheel is None:
        sys.exit(f"bootstrap: the index has no uv {version[1]} for {sysconfig.get_platform()}")
    with urllib.request.urlopen(urllib.parse.urljoin(page, wheel), timeout=300) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() not in pinned:
        sys.exit("bootstrap: the uv that the index gave is not the one that requirements/uv.txt pins")
    archive = scratch / "uv.whl"
    archive.write_bytes(content)
    with zipfile.ZipFile(archive) as package:
        member = next(name for name in package.namelist() if name.endswith("/scripts/uv"))
        (home / "bin").mkdir(parents=True, exist_ok=True)
        (home / "bin" / "uv").write_bytes(package.read(member))
    (home / "bin" / "uv").chmod(0o755)


def _platform_pattern() -> str:
    """The part of a wheel's name that says where it runs: "manylinux_2_17_x86_64.…", "macosx_11_0_arm64"."""
    system, _, machine = sysconfig.get_platform().partition("-")
    if system == "linux":
        return rf"[\w.]*manylinux[\w.]*{machine}[\w.]*"
    return rf"macosx_\w+_{machine.rpartition('-')[2]}"
