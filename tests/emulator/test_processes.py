"""Process pods: real local processes behind the image muster/process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muster.emulator import running_emulator
from tests.emulator.client import PODS, Client, Json, pod, terminated

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "muster/process"


def python(code: str) -> list[str]:
    return ["python3", "-c", code]


def run(client: Client, name: str, command: list[str], **options: Any) -> None:
    client.run_pod(name, image=IMAGE, command=command, **options)


def log(client: Client, name: str, **query: Any) -> str:
    return client.get(f"{PODS}/{name}/log", params=query).text


def follow(client: Client, name: str) -> str:
    client.wait(name, lambda found: found["status"]["phase"] != "Pending")
    return log(client, name, follow="true")


def eventually(is_so: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_its_output_is_the_log_and_its_code_the_exit(client: Client) -> None:
    run(
        client,
        "a",
        python("import sys; print('out'); print('err', file=sys.stderr); print('no newline', end=''); sys.exit(7)"),
    )
    assert terminated(client.wait_phase("a", "Failed"))["exitCode"] == 7
    assert log(client, "a") == "out\nerr\nno newline"


def test_long_lines_and_bars_survive(client: Client) -> None:
    run(client, "a", python("print('x' * 300_000); print('10%\\r20%\\r30%')"))
    client.wait_phase("a", "Succeeded")
    assert log(client, "a") == "x" * 300_000 + "\n10%\r20%\r30%\n"


def test_a_talkative_process_is_followed_whole(client: Client) -> None:
    run(client, "a", python("for at in range(30_000): print(at)"))
    assert follow(client, "a") == "".join(f"{at}\n" for at in range(30_000))


def test_the_environment_is_the_pods(client: Client) -> None:
    env = [
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "SPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "ROLE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['role']"}}},
        {"name": "BOTH", "value": "$(NAME)-$(ROLE)-$$(NAME)"},
        {"name": "MASTER_ADDR", "value": "a-0.a.default.svc"},
    ]
    keys = "'NAME','SPACE','ROLE','BOTH','MASTER_ADDR','NVIDIA_VISIBLE_DEVICES'"
    code = f"import os; print(*[os.environ[key] for key in ({keys})])"
    run(client, "a", python(code), labels={"role": "worker"}, gpus=2, container={"env": env})
    assert follow(client, "a") == "a default worker a-worker-$(NAME) 127.0.0.1 0,1\n"


def test_the_emulators_own_environment_stays_out(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_SECRET", "s")
    run(client, "a", python("import os; print('MUSTER_SECRET' in os.environ)"))
    assert follow(client, "a") == "False\n"


def test_pods_of_an_attempt_share_a_port(client: Client) -> None:
    code = python("import os, time; print(os.environ['MASTER_PORT'], flush=True); time.sleep(30)")
    for name, attempt in (("a", "7"), ("b", "7"), ("c", "8")):
        run(client, name, code, labels={"muster.scheduler/attempt": attempt})
    for name in ("a", "b", "c"):
        client.wait_phase(name, "Running")
    eventually(lambda: all(log(client, name) for name in ("a", "b", "c")))
    assert log(client, "a") == log(client, "b") != log(client, "c")


def test_a_config_map_is_mounted(client: Client) -> None:
    data = {"main.py": "import sys; print('mounted', open(sys.argv[1]).read())", "data.txt": "here"}
    client.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "code"}, "data": data})
    mounts = {"volumeMounts": [{"name": "v", "mountPath": "/muster/code"}]}
    command = ["python3", "/muster/code/main.py", "/muster/code/data.txt"]
    run(client, "a", command, container=mounts, volumes=[{"name": "v", "configMap": {"name": "code"}}])
    assert follow(client, "a") == "mounted here\n"


def test_a_command_that_is_not_there(client: Client) -> None:
    run(client, "a", ["no-such-command"])
    ended = terminated(client.wait_phase("a", "Failed"))
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert "no-such-command" in ended["message"]


def test_no_process_for_those_who_come_from_afar() -> None:
    with running_emulator(nodes=1, host="0.0.0.0") as server, Client(server.url) as client:
        run(client, "a", python("print('never')"))
        assert "loopback" in terminated(client.wait_phase("a", "Failed"))["message"]


def test_a_browser_is_not_answered(client: Client) -> None:
    answer = client.post(PODS, json=pod("a"), headers={"Origin": "https://example.org"})
    assert answer.status_code == 403


def test_sigterm_lets_it_save(client: Client) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: (print('saved'), sys.exit(143))); print('up'); time.sleep(60)"
    run(client, "a", python(code))
    eventually(lambda: log(client, "a") == "up\n")
    with client.stream("GET", f"{PODS}/a/log", params={"follow": "true"}) as answer:
        client.remove(f"{PODS}/a")
        assert list(answer.iter_lines()) == ["up", "saved"]
    client.wait_gone(f"{PODS}/a")


def test_one_that_will_not_go_is_killed_with_its_children(client: Client) -> None:
    child = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    code = (
        "import signal, subprocess, sys, time; signal.signal(15, signal.SIG_IGN);"
        f"print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid, flush=True); time.sleep(60)"
    )
    run(client, "a", python(code))
    client.wait_phase("a", "Running")
    eventually(lambda: log(client, "a").strip().isdigit())
    pid = int(log(client, "a"))
    started = time.monotonic()
    client.remove(f"{PODS}/a", gracePeriodSeconds=1)
    client.wait_gone(f"{PODS}/a")
    assert time.monotonic() - started > 0.9
    eventually(lambda: not is_alive(pid))


def test_a_forced_deletion_kills_at_once(client: Client) -> None:
    run(client, "a", python("import os, time; print(os.getpid(), flush=True); time.sleep(60)"))
    eventually(lambda: client.get(f"{PODS}/a/log").text.strip().isdigit())
    pid = int(log(client, "a"))
    client.remove(f"{PODS}/a", gracePeriodSeconds=0)
    assert client.get(f"{PODS}/a").status_code == 404
    eventually(lambda: not is_alive(pid))


def test_a_machine_without_power_runs_no_process(client: Client) -> None:
    run(client, "a", python("import os, time; print(os.getpid(), flush=True); time.sleep(60)"))
    eventually(lambda: client.get(f"{PODS}/a/log").text.strip().isdigit())
    pid = int(log(client, "a"))
    client.order("nodes/node-00000/lose", {"power_off": True})
    client.order("nodes/node-00000/restore")
    assert client.wait_phase("a", "Failed")["status"]["reason"] == "NodeShutdown"
    assert not is_alive(pid)


def test_no_process_outlives_the_emulator() -> None:
    with running_emulator(nodes=1) as server, Client(server.url) as client:
        run(client, "a", python("import os, time; print(os.getpid(), flush=True); time.sleep(60)"))
        eventually(lambda: client.get(f"{PODS}/a/log").text.strip().isdigit())
        pid = int(log(client, "a"))
        assert is_alive(pid)
    assert not is_alive(pid)


def start_command(*options: str) -> tuple[subprocess.Popen[str], str]:
    """The emulator as a process of its own, and its address."""
    command = [sys.executable, "-m", "muster.emulator", "--port", "0", "--cluster", "demo", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


def test_a_killed_emulator_takes_its_processes_along(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    process, url = start_command("--kubeconfig-out", str(kubeconfig))
    try:
        assert url in kubeconfig.read_text()
        with Client(url) as client:
            client.run_pod(
                "a",
                "dgx-h100-1",
                image=IMAGE,
                command=python("import os, time; print(os.getpid(), flush=True); time.sleep(60)"),
            )
            eventually(lambda: client.get(f"{PODS}/a/log").text.strip().isdigit())
            pid = int(log(client, "a"))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    eventually(lambda: not is_alive(pid))


def test_a_stopped_emulator_ends_well() -> None:
    process, _ = start_command()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def gang(client: Client, env: Json | None = None, workers: int = 4) -> None:
    for rank in range(workers):
        values = {
            "RANK": rank,
            "WORLD_SIZE": workers,
            "MASTER_ADDR": "x-0.x",
            "MASTER_PORT": 29500,
            "ROUNDS": 4,
            **(env or {}),
        }
        container = {"env": [{"name": key, "value": str(value)} for key, value in values.items()]}
        body = pod(
            f"ring-{rank}", image=IMAGE, gpus=2, command=["python3", "allreduce.py"],
            labels={"muster.scheduler/attempt": "1"}, container=container,
        )  # fmt: skip
        client.create(PODS, body)
    for rank in range(workers):
        client.bind(f"ring-{rank}", "node-00000")


def test_a_gang_sums_in_a_ring(client: Client) -> None:
    gang(client)
    for rank in range(4):
        client.wait_phase(f"ring-{rank}", "Succeeded")
        assert "sum ok: " in log(client, f"ring-{rank}").splitlines()[-1]


def test_one_rank_that_fails_ends_the_ring(client: Client) -> None:
    gang(client, {"MUSTER_FAIL_RANK": 2})
    for rank in range(4):
        assert terminated(client.wait_phase(f"ring-{rank}", "Failed"))["exitCode"] == 1
    assert "failing on order" in log(client, "ring-2")
    assert "lost a peer" in log(client, "ring-1")


def test_a_ring_saves_a_checkpoint_when_stopped(client: Client) -> None:
    gang(client, {"SECONDS": 60})
    eventually(lambda: "round 1/4" in log(client, "ring-0"))
    with client.stream("GET", f"{PODS}/ring-0/log", params={"follow": "true", "tailLines": 1}) as answer:
        client.remove(f"{PODS}/ring-0")
        assert list(answer.iter_lines())[-1].endswith("checkpoint saved")
