"""Random small worlds, as scenario files: what fails can be saved and run with `muster plan`."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import strategies as st

SHAPES = (
    "dgx-h100",
    "dgx-a100",
    "a100-pcie-bridged",
    "l40s-pcie4",
    "gb200-tray",
    "dgx1-v100",
    "cpu-only",
    "l40s-pcie8",
)
GPUS = {"l40s-pcie4": 4, "gb200-tray": 4, "cpu-only": 0}
MODELS = ("H100", "A100", "A100-80GB", "L40S-48GB", "V100-32GB")


@st.composite
def nodes(draw: st.DrawFn, most: int = 12) -> list[dict[str, Any]]:
    """Up to `most` nodes of few shapes, in racks and blocks, some of them ill, tainted, labelled or partly taken."""
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2))
    count = draw(st.integers(1, most))
    return [draw(node(f"n{i}", shapes)) for i in range(count)]


@st.composite
def node(draw: st.DrawFn, name: str, shapes: list[str]) -> dict[str, Any]:
    """One node; most keys keep their defaults most of the time."""
    shape = draw(st.sampled_from(shapes))
    count = GPUS.get(shape, 8)
    found: dict[str, Any] = {
        "name": name, "shape": shape, "block": draw(st.sampled_from(["b0", "b1"])), "rack": draw(st.sampled_from(["r0", "r1"])),
    }  # fmt: skip
    if shape == "gb200-tray":
        found["nvlink_domain"] = draw(st.sampled_from(["d0", "d1"]))
    if count and draw(st.integers(0, 2)):
        taken = draw(st.sets(st.integers(0, count - 1), max_size=count))
        found["others"] = {"gpus": sorted(taken), "cpus": draw(st.sampled_from([0, 8, 60]))}
    if count and draw(st.integers(0, 5)) == 0:
        found["unhealthy_gpus"] = [draw(st.integers(0, count - 1))]
    rare = draw(st.integers(0, 11))
    if rare == 0:
        found["cordoned"] = True
    elif rare == 1:
        found["ready"] = False
    elif rare == 2:
        found["taints"] = [{"key": "team", "value": "x", "effect": "NoSchedule"}]
    elif rare == 3:
        found["labels"] = {"disk": "fast"}
    return found


@st.composite
def job(draw: st.DrawFn, name: str, queues: list[str], most_workers: int = 4) -> dict[str, Any]:
    """A waiting job of one role."""
    found: dict[str, Any] = {
        "name": name, "queue": draw(st.sampled_from(queues)), "submitted": draw(st.integers(0, 5)),
        "workers": draw(st.sampled_from([1, 1, 1, 2, 3, most_workers])), "cpus": draw(st.sampled_from([0, 0, 4, 30])),
    }  # fmt: skip
    kind = draw(st.integers(0, 9))
    if kind < 7:
        found["gpus"] = draw(st.sampled_from([1, 1, 2, 2, 3, 4, 8]))
    elif kind < 9:
        found["gpu_fraction"] = draw(st.sampled_from([0.25, 0.5, 0.7]))
        found["workers"] = min(found["workers"], 2)
    found |= draw(wishes(found.get("gpus", 0)))
    return found


@st.composite
def wishes(draw: st.DrawFn, gpus: int) -> dict[str, Any]:
    """What a job asks for beyond size: mostly nothing."""
    found: dict[str, Any] = {}
    wish = draw(st.integers(0, 19))
    if wish == 0 and gpus > 1:
        found["gpu"] = {"nvlink": draw(st.sampled_from(["required", "any"]))}
    elif wish == 1 and gpus:
        found["gpu"] = {"model": draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique=True))}
    elif wish == 2 and gpus > 1:
        found["locality"] = {"required": draw(st.sampled_from(["switch", "numa", "nvlink"]))}
    elif wish == 3:
        found["topology"] = {"required": draw(st.sampled_from(["rack", "block", "host", "nvlink_domain"]))}
    elif wish == 4:
        found["topology"] = {"preferred": draw(st.sampled_from(["rack", "block"]))}
    elif wish == 5:
        found["spread"] = True
    elif wish == 6:
        found["node_selector"] = {"disk": "fast"}
    elif wish == 7:
        found["tolerations"] = [{"key": "team", "operator": "Exists"}]
    elif wish == 8:
        found["held"] = True
    elif wish == 9:
        found["exclusive"] = True
    elif wish == 10:
        found["not_before"] = 100
    return found


@st.composite
def gang(draw: st.DrawFn, name: str, queues: list[str]) -> dict[str, Any]:
    """A waiting job of two or three roles."""
    found: dict[str, Any] = {"name": name, "queue": draw(st.sampled_from(queues)), "submitted": draw(st.integers(0, 5))}
    roles = []
    for number in range(draw(st.sampled_from([2, 2, 3]))):
        role: dict[str, Any] = {
            "name": f"r{number}", "workers": draw(st.sampled_from([1, 1, 2])), "gpus": draw(st.sampled_from([0, 1, 2, 4, 8])),
            "cpus": draw(st.sampled_from([0, 4, 30])),
        }  # fmt: skip
        if number:
            role |= draw(st.sampled_from([{}, {}, {"near": "r0"}, {"apart": "r0"}]))
        roles.append(role)
    found["roles"] = roles
    wish = draw(st.integers(0, 9))
    if wish < 2:
        found["topology"] = {"required": draw(st.sampled_from(["rack", "block", "host"]))}
    elif wish == 2:
        found["topology"] = {"preferred": draw(st.sampled_from(["rack", "block"]))}
    elif wish == 3:
        found["spread"] = True
    return found


@st.composite
def sliced(draw: st.DrawFn, name: str, queues: list[str]) -> dict[str, Any]:
    """A gang whose runs of ranks stay together."""
    level = draw(st.sampled_from(["rack", "rack", "block", "host"]))
    found: dict[str, Any] = {
        "name": name, "queue": draw(st.sampled_from(queues)), "workers": draw(st.integers(2, 5)),
        "gpus": draw(st.sampled_from([1, 2, 4, 8])),
        "topology": {"slice": {"workers": draw(st.sampled_from([2, 2, 3])), "required": level}},
    }  # fmt: skip
    found["topology"] |= draw(st.sampled_from([{}, {"preferred": "rack"}, {"required": "block"}]))
    return found


@st.composite
def running(draw: st.DrawFn, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Jobs of one worker each that run on some of the nodes."""
    found: list[dict[str, Any]] = []
    for node in nodes:
        barred = {*node.get("others", {}).get("gpus", []), *node.get("unhealthy_gpus", [])}
        free = [gpu for gpu in range(GPUS.get(node["shape"], 8)) if gpu not in barred]
        if not free or not node.get("ready", True) or draw(st.integers(0, 2)):
            continue
        gpus = sorted(draw(st.sets(st.sampled_from(free), min_size=1, max_size=4)))
        found.append({
            "name": f"x{len(found)}", "queue": "q", "gpus": len(gpus), "preemptible": True,
            "running": {"worker-0": {"node": node["name"], "gpus": gpus}},
        })  # fmt: skip
    return found


@st.composite
def scenarios(draw: st.DrawFn, most_nodes: int = 12, most_jobs: int = 6) -> dict[str, Any]:
    """A whole file: two queues, one of them limited, a few waiting jobs, and some that run."""
    limit = draw(st.sampled_from([None, 4, 16]))
    queues: dict[str, Any] = {"q": {}, "r": {} if limit is None else {"limit": limit}}
    kinds = [job, job, job, gang, sliced]
    there = draw(nodes(most_nodes))
    jobs = [draw(draw(st.sampled_from(kinds))(f"j{i}", list(queues))) for i in range(draw(st.integers(1, most_jobs)))]
    jobs = [one | draw(st.sampled_from([{}, {}, {"priority": 60}])) for one in jobs]
    return {
        "name": "random", "cluster": {"levels": ["block", "rack"], "nodes": there},
        "queues": queues, "jobs": [*jobs, *draw(running(there))], "now": 10,
        "policy": {"placement": draw(st.sampled_from(["pack", "pack", "spread"]))},
    }  # fmt: skip


def text_of(scenario: dict[str, Any]) -> str:
    """The file."""
    return yaml.safe_dump(scenario, sort_keys=False)
