"""Node objects as a kubelet, GPU Feature Discovery and our node agent write them."""

from dataclasses import dataclass, field

import orjson

from muster.emulator.clock import stamp
from muster.emulator.hardware.shapes import Model, Shape, model_of, shape_named, topology
from muster.emulator.registry.errors import Json
from muster.emulator.registry.kinds import KUBELET

TOPOLOGY = "muster.scheduler/topology"
BLOCK, RACK = "topology.muster.dev/block", "topology.muster.dev/rack"
PODS_PER_NODE = "110"
_DRIVER = ("570", "172", "08")
_CUDA = ("12", "8")


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node of a cluster file."""

    name: str
    number: int  # gives the node its address
    shape: str = "cpu-only"
    block: str | None = None
    rack: str | None = None
    clique: str | None = None  # multi-node NVLink domain
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[Json] = field(default_factory=list)
    unhealthy_gpus: list[int] = field(default_factory=list)


def build_node(plan: NodePlan) -> Json:
    """The whole Node, ready, without a resourceVersion."""
    shape = shape_named(plan.shape)
    model = model_of(shape)
    wiring = topology(shape, plan.name, plan.unhealthy_gpus)
    return {
        "metadata": {
            "name": plan.name,
            "labels": {**_labels(plan, shape, model), **plan.labels},
            "annotations": {KUBELET: "simulated", TOPOLOGY: orjson.dumps(wiring).decode()},
        },
        "spec": {"taints": list(plan.taints)} if plan.taints else {},
        "status": _status(plan, shape, model),
    }


def _labels(plan: NodePlan, shape: Shape, model: Model | None) -> dict[str, str]:
    labels = {
        "kubernetes.io/arch": "arm64" if shape.name.startswith("gb200") else "amd64",
        "kubernetes.io/hostname": plan.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": shape.name,
    }
    given = {BLOCK: plan.block, RACK: plan.rack, "nvidia.com/gpu.clique": plan.clique}
    labels.update({label: value for label, value in given.items() if value})
    if model is None:
        return labels
    if model.compute is None:
        return {**labels, "amd.com/gpu.product-name": model.product, "amd.com/gpu.vram": f"{model.mib // 1024}G"}
    return {**labels, **gfd_labels(shape, model)}


def gfd_labels(shape: Shape, model: Model) -> dict[str, str]:
    """The labels of GPU Feature Discovery and the GPU operator on a node with whole GPUs."""
    major, minor = (model.compute or "0.0").split(".")
    deployed = (
        "container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver", "gpu-feature-discovery",
        "mig-manager", "node-status-exporter", "operator-validator",
    )  # fmt: skip
    return {
        "nvidia.com/cuda.driver-version.full": ".".join(_DRIVER),
        "nvidia.com/cuda.driver-version.major": _DRIVER[0],
        "nvidia.com/cuda.driver-version.minor": _DRIVER[1],
        "nvidia.com/cuda.driver-version.revision": _DRIVER[2],
        "nvidia.com/cuda.runtime-version.full": ".".join(_CUDA),
        "nvidia.com/cuda.runtime-version.major": _CUDA[0],
        "nvidia.com/cuda.runtime-version.minor": _CUDA[1],
        "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
        "nvidia.com/gpu.compute.major": major,
        "nvidia.com/gpu.compute.minor": minor,
        "nvidia.com/gpu.count": str(shape.gpus),
        **{f"nvidia.com/gpu.deploy.{name}": "true" for name in deployed},
        "nvidia.com/gpu.family": model.family,
        "nvidia.com/gpu.machine": shape.machine,
        "nvidia.com/gpu.memory": str(model.mib),
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": model.product,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/mig.capable": str(model.mig).lower(),
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/mps.capable": "false",
        "nvidia.com/vgpu.present": "false",
        **({"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "success"} if model.mig else {}),
    }


def _status(plan: NodePlan, shape: Shape, model: Model | None) -> Json:
    capacity = {"cpu": str(shape.cpus), "memory": shape.memory, "ephemeral-storage": "15Ti", "pods": PODS_PER_NODE}
    allocatable = dict(capacity)
    if model is not None:
        capacity[model.resource] = str(shape.gpus)
        allocatable[model.resource] = str(shape.gpus - len(plan.unhealthy_gpus))
    high, low = divmod(plan.number, 250)
    address = f"10.{20 + high // 250}.{high % 250}.{low + 1}"
    return {
        "capacity": capacity,
        "allocatable": allocatable,
        "conditions": ready_conditions(),
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": plan.name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "arm64" if shape.name.startswith("gb200") else "amd64",
            "bootID": "", "machineID": "", "systemUUID": "",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.8.0-79-generic",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.36.3",
            "operatingSystem": "linux",
            "osImage": "Ubuntu 24.04.3 LTS",
        },
    }  # fmt: skip


_HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def ready_conditions() -> list[Json]:
    """The conditions that a healthy kubelet posts."""
    return [_condition(*row) for row in _HEALTHY]


def lost_conditions() -> list[Json]:
    """The conditions that the node lifecycle controller writes when a kubelet falls silent."""
    message = "Kubelet stopped posting node status."
    return [_condition(kind, "Unknown", "NodeStatusUnknown", message) for kind, *_ in _HEALTHY]


def _condition(kind: str, status: str, reason: str, message: str) -> Json:
    moment = stamp()
    return {
        "type": kind, "status": status, "lastHeartbeatTime": moment, "lastTransitionTime": moment,
        "reason": reason, "message": message,
    }  # fmt: skip
