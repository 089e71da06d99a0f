"""`muster submit`, `jobs`, `show`, `logs`, `explain`, `cancel`, `hold`, `release`.

Exit codes: 0 done; 1 refused, or the job that was waited for failed; 2 a bad file or argument; 3 the platform does not answer;
4 not signed in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from muster.cli.client import Muster
from muster.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_REFUSED,
    AsJson,
    age,
    plain,
    print_json,
    print_table,
    told_errors,
)

JobName = Annotated[str, typer.Argument(metavar="JOB", help="A job's number, or its name (the latest of that name).")]


def submit(
    words: Annotated[
        list[str],
        typer.Argument(metavar="FILE | -- COMMAND...", help="A job file (- reads it), or with --image a command."),
    ],
    image: Annotated[str, typer.Option(help="Run a command in this image, without a job file.")] = "",
    asks: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key of its job file, as queue=train or gpus=H100:8."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Return when the job has ended; fail if it fails.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a job that can never run.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check only; create nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Submit a job file, or a command: muster submit --image IMAGE --set queue=train -- python train.py"""
    document: str | dict[str, Any]
    if image:
        document, file = _of_command(words, image, asks or []), "command line"
    elif len(words) == 1 and not asks:
        document, file = _read(Path(words[0])), words[0]
    else:
        raise typer.BadParameter("give one job file, or --image and a command behind --")
    with told_errors(as_json=as_json, file=file), Muster() as muster:
        job = muster.submit(document, strict=strict, dry_run=dry_run)
        for warning in job["warnings"]:
            print(f"warning: {warning}", file=sys.stderr)
        if dry_run:
            _show_trial(job, as_json=as_json)
            return
        _finish(muster, job, wait=wait, as_json=as_json)


def _finish(muster: Muster, job: dict[str, Any], *, wait: bool, as_json: bool) -> None:
    if wait:
        job = _wait(muster, job, quiet=as_json)
    if as_json:
        print_json(job)
    elif not wait:
        print(f"job {job['id']} {job['name']} submitted to {job['queue']}")
    if wait and job["state"] != "succeeded":
        raise typer.Exit(EXIT_REFUSED)


def _show_trial(trial: dict[str, Any], *, as_json: bool) -> None:
    """What `--dry-run` prints: where it would start, or why it would wait."""
    if as_json:
        print_json(trial)
        return
    preview = trial["preview"] or {"nodes": {}, "message": ""}
    print("The job file is good.")
    if preview["nodes"]:
        print(f"It would start now on {', '.join(preview['nodes'])}.")
    elif preview["message"]:
        print(f"It would wait: {preview['message']}")


def _of_command(words: list[str], image: str, asks: list[str]) -> dict[str, Any]:
    """A job file of a command. Values are read as YAML reads them: workers=4 is a number."""
    import yaml

    found: dict[str, Any] = {"name": _name_of(words[0]), "image": image, "command": words}
    for ask in asks:
        key, separator, value = ask.partition("=")
        if not separator:
            raise typer.BadParameter(f"{ask} is not KEY=VALUE", param_hint="--set")
        found[key] = yaml.safe_load(value)
    return found


def _name_of(word: str) -> str:
    """A job's name from its program's: `./Train_1.py` gives train-1."""
    stem = re.sub(r"[^a-z0-9]+", "-", Path(word).stem.lower()).strip("-")
    return stem[:40].strip("-") or "job"


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        print(f"muster: {file} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}", file=sys.stderr)
        raise typer.Exit(EXIT_BAD_INPUT) from None


def _wait(muster: Muster, job: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    for now in muster.follow(job["id"]):
        job = now
        if not quiet:
            workers = (
                f" {now['workers']['ready']}/{now['workers']['wanted']} workers" if now["state"] == "running" else ""
            )
            print(f"job {now['id']} {now['name']}: {now['state']}{workers}", flush=True)
    if job["state"] != "succeeded" and not quiet:
        print(job["state_message"], file=sys.stderr)
        for worker in muster.workers(job["id"]):
            if worker["last_lines"]:
                print(
                    f"--- {worker['name']} (exit code {worker['exit_code']}):\n{worker['last_lines']}", file=sys.stderr
                )
    return job


def jobs(
    state: Annotated[list[str] | None, typer.Option(help="Only jobs in this state; may be repeated.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only jobs of this queue.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only this person's jobs.")] = None,
    words: Annotated[str | None, typer.Option("--search", "-q", help="Words in name, queue, owner or tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    asked = {"state": state, "queue": queue, "owner": owner, "q": words}
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.jobs(limit=limit, **{name: value for name, value in asked.items() if value})
    if as_json:
        print_json(found)
        return
    heads = ("ID", "NAME", "QUEUE", "PRIORITY", "STATE", "WORKERS", "GPUS", "AGE")
    print_table(heads, [_job_row(job) for job in found])


def _job_row(job: dict[str, Any]) -> tuple[object, ...]:
    workers = f"{job['workers']['ready']}/{job['workers']['wanted']}"
    return (
        job["id"],
        job["name"],
        job["queue"],
        job["priority"],
        job["state"],
        workers,
        plain(job["gpus"]),
        age(job["submitted_at"]),
    )


def show(job: JobName, as_json: AsJson = False) -> None:
    """Show a job, its workers and its story."""
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.job(job)
        workers, events = muster.workers(found["id"]), muster.events(found["id"])
    if as_json:
        print_json(found | {"worker_list": workers, "events": events})
        return
    print(f"{found['name']} (job {found['id']}) of {found['owner']} in {found['queue']}, priority {found['priority']}")
    print(f"{found['state']}: {found['state_message']}" if found["state_message"] else found["state"])
    if workers:
        print()
        heads = ("WORKER", "RANK", "NODE", "GPUS", "PHASE", "EXIT")
        print_table(heads, [_worker_row(worker) for worker in workers])
    print()
    print_table(("WHEN", "WHAT"), [(f"{age(event['at'])} ago", event["message"]) for event in events])


def _worker_row(worker: dict[str, Any]) -> tuple[object, ...]:
    gpus = ",".join(str(device["index"]) for device in worker["devices"] if device["kind"] != "nic")
    rank, code = worker["rank"], worker["exit_code"]
    return (
        worker["name"],
        "—" if rank is None else rank,
        worker["node"] or "—",
        gpus or "—",
        worker["phase"],
        "—" if code is None else code,
    )


def logs(
    job: JobName,
    worker: Annotated[str | None, typer.Option(help="Only this worker, as worker-0.")] = None,
    rank: Annotated[int | None, typer.Option(help="Only this rank.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for lines to come.")] = False,
    tail: Annotated[int | None, typer.Option(min=0, help="Only the last so many lines of each.")] = None,
) -> None:
    """Print the logs of a job's workers."""
    with told_errors(), Muster() as muster:
        if rank is not None:
            ranked = {one["rank"]: one["name"] for one in muster.workers(job)}
            if rank not in ranked:
                raise typer.BadParameter(f"{job} has no rank {rank}.", param_hint="--rank")
            worker = ranked[rank]
        for name, line in muster.logs(job, worker=worker or "", follow=follow, tail=tail):
            print(line if worker else f"[{name}] {line}", flush=follow)


def explain(job: JobName, as_json: AsJson = False) -> None:
    """Say why a job waits, and what would help."""
    with told_errors(as_json=as_json), Muster() as muster:
        found = muster.job(job)
        verdict = muster.verdict(found["id"])
    if as_json:
        print_json(verdict)
    elif verdict["reason"] is None:
        waits = "has not been tried yet" if found["state"] == "queued" else f"does not wait: it is {found['state']}"
        print(f"{found['name']} {waits}.")
    else:
        print(f"{verdict['reason']}: {verdict['message']}")
        if verdict["position"]:
            print(f"Place {verdict['position']} in {found['queue']}.")
        for step in verdict["funnel"]:
            print(f"  {step.get('line') or step}")


def cancel(names: Annotated[list[str], typer.Argument(metavar="JOB...")], as_json: AsJson = False) -> None:
    """Cancel jobs: their processes are asked to end, then made to."""
    _each(names, Muster.cancel, as_json=as_json)


def hold(names: Annotated[list[str], typer.Argument(metavar="JOB...")], as_json: AsJson = False) -> None:
    """Keep queued jobs from starting."""
    _each(names, Muster.hold, as_json=as_json)


def release(names: Annotated[list[str], typer.Argument(metavar="JOB...")], as_json: AsJson = False) -> None:
    """Let held jobs start."""
    _each(names, Muster.release, as_json=as_json)


def _each(names: list[str], verb: Callable[[Muster, str], dict[str, Any]], *, as_json: bool) -> None:
    with told_errors(as_json=as_json), Muster() as muster:
        done = [verb(muster, name) for name in names]
    if as_json:
        print_json(done)
        return
    for job in done:
        print(f"job {job['id']} {job['name']}: {job['state']}")
