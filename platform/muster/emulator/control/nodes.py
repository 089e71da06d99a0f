"""Faults of nodes and devices: what the node controller and the device plugin would then write."""

import orjson

from muster.emulator.clock import stamp
from muster.emulator.hardware.nodes import TOPOLOGY, lost_conditions, ready_conditions
from muster.emulator.kubelet.devices import GPU_RESOURCES
from muster.emulator.registry.errors import Json
from muster.emulator.registry.pods import condition, set_condition
from muster.emulator.registry.resources import NODES, PODS
from muster.emulator.world import World

UNREACHABLE = "node.kubernetes.io/unreachable"
XID = "emulator.muster.dev/xid"


def lose_node(world: World, name: str, *, power_off: bool) -> None:
    """The kubelet falls silent: Ready becomes Unknown, the node is tainted, its pods are no longer ready."""
    node = world.store.get(NODES, ("", name)).copy()
    agent = world.kubelets.agents.get(name)
    if agent is not None:
        if power_off:
            agent.power_off()
        else:
            agent.fall_silent()
    node["status"]["conditions"] = lost_conditions()
    taints = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != UNREACHABLE]
    taints += [{"key": UNREACHABLE, "effect": effect, "timeAdded": stamp()} for effect in ("NoSchedule", "NoExecute")]
    node["spec"]["taints"] = taints
    world.store.update(NODES, node)
    for entry in world.store.entries(PODS):
        if entry.obj["spec"].get("nodeName") == name and entry.obj["status"].get("phase") == "Running":
            pod = entry.copy()
            set_condition(pod, condition("Ready", "False"))
            world.store.update(PODS, pod)


def restore_node(world: World, name: str) -> None:
    """The kubelet answers again."""
    node = world.store.get(NODES, ("", name)).copy()
    node["status"]["conditions"] = ready_conditions()
    taints = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != UNREACHABLE]
    if taints:
        node["spec"]["taints"] = taints
    else:
        node["spec"].pop("taints", None)
    world.store.update(NODES, node)
    agent = world.kubelets.agents.get(name)
    if agent is not None:
        agent.come_back()


def set_gpu_health(world: World, name: str, index: int, *, healthy: bool, xid: int | None) -> None:
    """The device plugin reports a GPU: allocatable follows, and so does the node agent's annotation."""
    node = world.store.get(NODES, ("", name)).copy()
    annotations = node["metadata"].setdefault("annotations", {})
    wiring = orjson.loads(annotations.get(TOPOLOGY, "{}"))
    chosen = [gpu for gpu in wiring.get("gpus", []) if gpu["index"] == index]
    if not chosen:
        raise ValueError(f"node {name} has no GPU {index}")
    chosen[0]["healthy"] = healthy
    annotations[TOPOLOGY] = orjson.dumps(wiring).decode()
    if xid is not None and not healthy:
        annotations[XID] = f"{index}:{xid}"
    elif healthy:
        annotations.pop(XID, None)
    usable = sum(1 for gpu in wiring["gpus"] if gpu["healthy"])
    for resource in GPU_RESOURCES:
        if resource in node["status"]["capacity"]:
            node["status"]["allocatable"][resource] = str(usable)
    world.store.update(NODES, node)


def device_state(world: World) -> Json:
    """Every GPU of every node: its health, and which pods have what of it."""
    return {
        name: [
            {
                "index": index,
                "healthy": healthy,
                "holders": [
                    {"pod": hold.pod, "uid": hold.uid, "kind": hold.kind, "milli": hold.milli, "mig": hold.mig, "start": hold.start}
                    for hold in agent.devices.holds.get(index, [])
                ],
            }
            for index, healthy in sorted(agent.devices.healthy.items())
        ]
        for name, agent in sorted(world.kubelets.agents.items())
        if agent.devices.healthy
    }  # fmt: skip
