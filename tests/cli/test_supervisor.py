"""The supervisor over small real processes: what dies comes back, what is stopped is gone."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from muster.cli.up.leftovers import MARK, Entry, Record, start_time, sweep
from muster.cli.up.output import Output
from muster.cli.up.services import Service
from muster.cli.up.supervisor import StartError, Supervisor

FOREVER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + FOREVER
WITH_CHILD = (
    "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
    "print(child.pid, flush=True); time.sleep(600)"
)


def service(name: str, code: str = FOREVER, **options: object) -> Service:
    return Service(name, [sys.executable, "-c", code], **options)  # type: ignore[arg-type]


def running(tmp_path: Path) -> dict[str, int]:
    """Name and process id of what the record says, as far as it is alive."""
    return {entry.name: entry.pid for entry in Record(tmp_path / "processes.json").read() if entry.is_alive()}


async def until(tmp_path: Path, *, name: str, other_than: int = 0) -> int:
    """The process id of `name` once it runs (again) and has said so."""
    for _ in range(200):
        pid = running(tmp_path).get(name, 0)
        if pid not in {0, other_than}:
            return pid
        await asyncio.sleep(0.05)
    raise AssertionError(f"{name} did not start")


async def first_words(tmp_path: Path, name: str) -> str:
    """What the log of `name` holds, once it holds anything."""
    log = tmp_path / "logs" / f"{name}.log"
    for _ in range(200):
        if log.exists() and (text := log.read_text()):
            return text
        await asyncio.sleep(0.05)
    raise AssertionError(f"{name} said nothing")


async def test_killed_child_comes_back(supervisor: Supervisor, tmp_path: Path) -> None:
    await supervisor.start([service("a"), service("b")])
    first = await until(tmp_path, name="a")
    bystander = await until(tmp_path, name="b")

    os.kill(first, signal.SIGKILL)

    assert await until(tmp_path, name="a", other_than=first) != first
    assert running(tmp_path)["b"] == bystander
    await supervisor.stop()


async def test_stop_ends_the_stubborn_and_their_children(supervisor: Supervisor, tmp_path: Path) -> None:
    await supervisor.start([service("stubborn", STUBBORN, grace=0.2), service("parent", WITH_CHILD)])
    pids = [await until(tmp_path, name=name) for name in ("stubborn", "parent")]
    await first_words(tmp_path, "stubborn")
    pids.append(int(await first_words(tmp_path, "parent")))

    await supervisor.stop()

    assert [pid for pid in pids if start_time(pid) is not None] == []
    assert not (tmp_path / "processes.json").exists()


async def test_waves_stop_in_reverse(supervisor: Supervisor, tmp_path: Path) -> None:
    note = tmp_path / "ended"
    code = (
        "import signal, sys, time\n"
        f"def end(*_): open({str(note)!r}, 'a').write(sys.argv[1]); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); print('up', flush=True)\n"
        "while True: time.sleep(60)"
    )
    for wave in ("1", "2"):
        await supervisor.start([Service(wave, [sys.executable, "-c", code, wave])])
        await first_words(tmp_path, wave)

    await supervisor.stop()

    assert note.read_text() == "21"


async def test_what_never_answers_is_named(supervisor: Supervisor) -> None:
    with pytest.raises(StartError, match=r"deaf did not start within 0 s: see .*deaf\.log"):
        await supervisor.start([service("deaf", ready=lambda: False)], seconds=0.3)
    await supervisor.stop()


def test_sweep_ends_what_was_left(tmp_path: Path) -> None:
    left = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    marked = subprocess.Popen([sys.executable, "-c", FOREVER], env=os.environ | {MARK: str(tmp_path)})
    bystander = subprocess.Popen([sys.executable, "-c", FOREVER], env=os.environ | {MARK: str(tmp_path / "other")})
    assert left.stdout is not None
    left.stdout.readline()  # from here on it ignores SIGTERM
    record = Record(tmp_path / "processes.json")
    record.add(name="left", pid=left.pid, program=str(Path(sys.executable).resolve()))

    assert sweep(record, tmp_path, grace=0.3) == ["a child process", "left"]

    assert left.wait(timeout=5) == -signal.SIGKILL
    assert marked.wait(timeout=5) == -signal.SIGTERM
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
    left.stdout.close()


def test_sweep_spares_whoever_got_the_number(tmp_path: Path) -> None:
    """A process id is used again: the start time and the program must agree."""
    other = subprocess.Popen([sys.executable, "-c", FOREVER])
    started = start_time(other.pid)
    assert started is not None
    program = str(Path(sys.executable).resolve())

    assert Entry("same", other.pid, started, program).is_alive()
    assert not Entry("later", other.pid, started - 1, program).is_alive()
    assert not Entry("another program", other.pid, started, "/usr/bin/redis-server").is_alive()

    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert not Entry("zombie", other.pid, started, program).is_alive()
    other.wait()


async def test_children_learn_that_the_supervisor_was_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from muster.cli.up.engines import follow_parent\n"
        "from muster.cli.up.leftovers import Record; from muster.cli.up.output import Output\n"
        "from muster.cli.up.services import Service; from muster.cli.up.supervisor import Supervisor\n"
        "home = Path(sys.argv[1])\n"
        "async def main():\n"
        "    up = Supervisor(home, record=Record(home / 'processes.json'), output=Output(home / 'logs'))\n"
        "    await up.start([Service('child', [sys.executable, '-c', sys.argv[2]], prefix=follow_parent('TERM'))])\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(tmp_path), FOREVER)
    child = await until(tmp_path, name="child")
    await first_words(tmp_path, "child")

    parent.kill()
    await parent.wait()

    for _ in range(100):
        if start_time(child) is None:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the child outlived its supervisor")


async def test_output_keeps_long_lines_and_the_last_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(tmp_path)
    reading, writing = os.pipe()
    long = b"x" * 200_000
    following = asyncio.create_task(output.follow("web", reading))
    with os.fdopen(writing, "wb") as pipe:
        await asyncio.to_thread(pipe.write, b"first\n" + long + b"\n10%\r20%\nno newline")

    await following

    kept = output.log_of("web").read_bytes()
    assert kept.replace(b"\n", b"") == b"first" + long + b"10%\r20%no newline"
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"10%\r20%\nno newline\n")
    assert "web │ first" in capsys.readouterr().out
