"""Pod statuses as a kubelet writes them, as changes of a decoded pod."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from muster.emulator.clock import stamp
from muster.emulator.kubelet.containers import Exit
from muster.emulator.registry.errors import Json
from muster.emulator.registry.pods import condition, set_condition


@dataclass(slots=True)
class ContainerState:
    """Where one container of a pod stands."""

    name: str
    image: str
    started: float | None = None  # seconds since the epoch
    ended: float | None = None
    exit: Exit | None = None
    restarts: int = 0
    waiting: str = "ContainerCreating"
    last: Json = field(default_factory=dict)

    def json(self, pod_uid: str) -> Json:
        status: Json = {
            "name": self.name, "image": self.image, "imageID": "", "lastState": self.last,
            "restartCount": self.restarts, "ready": self.is_running, "started": self.is_running,
            "state": self.state(),
        }  # fmt: skip
        if self.started is not None:
            status["imageID"] = f"{self.image}@emulated"
            status["containerID"] = f"containerd://{pod_uid}-{self.name}-{self.restarts}"
        return status

    @property
    def is_running(self) -> bool:
        return self.started is not None and self.exit is None

    def state(self) -> Json:
        if self.exit is not None and self.ended is not None:
            terminated = {
                "exitCode": self.exit.code,
                "reason": self.exit.reason,
                "startedAt": stamp(self.started) if self.started is not None else None,
                "finishedAt": stamp(self.ended),
            }
            return {"terminated": {**terminated, **({"message": self.exit.message} if self.exit.message else {})}}
        if self.started is not None:
            return {"running": {"startedAt": stamp(self.started)}}
        return {"waiting": {"reason": self.waiting}}


def write_phase(pod: Json, containers: Mapping[str, ContainerState], addresses: tuple[str, str]) -> None:
    """Bring a pod's status up to its containers. `addresses`: of the node and of the pod."""
    status = pod["status"]
    states = list(containers.values())
    status["containerStatuses"] = [state.json(pod["metadata"]["uid"]) for state in states]
    status["hostIP"], status["hostIPs"] = addresses[0], [{"ip": addresses[0]}]
    status.setdefault("startTime", stamp())
    if any(state.started is not None for state in states):
        status["podIP"], status["podIPs"] = addresses[1], [{"ip": addresses[1]}]
    status["phase"] = phase_of(states)
    _write_conditions(pod, states)


def phase_of(states: list[ContainerState]) -> str:
    """Pending, Running, Succeeded or Failed, by all containers together."""
    if all(state.exit is not None for state in states):
        return "Succeeded" if all(state.exit and state.exit.code == 0 for state in states) else "Failed"
    return "Running" if any(state.started is not None for state in states) else "Pending"


def _write_conditions(pod: Json, states: list[ContainerState]) -> None:
    names = " ".join(state.name for state in states if not state.is_running)
    why = ("ContainersNotReady", f"containers with unready status: [{names}]")
    if pod["status"]["phase"] == "Succeeded":
        why = ("PodCompleted", "")
    elif pod["status"]["phase"] == "Failed":
        why = ("PodFailed", "")
    ready = all(state.is_running for state in states)
    started = any(state.started is not None for state in states)
    set_condition(pod, condition("PodReadyToStartContainers", "True" if started and ready else "False"))
    set_condition(pod, condition("Initialized", "True"))
    for kind in ("Ready", "ContainersReady"):
        set_condition(pod, condition(kind, "True") if ready else condition(kind, "False", *why))
    set_condition(pod, condition("PodScheduled", "True"))


def write_rejection(pod: Json, reason: str, message: str) -> None:
    """A pod that its node's kubelet refused: no container ever runs."""
    status = pod["status"]
    pod["status"] = {
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "startTime": stamp(),
        "qosClass": status.get("qosClass", "BestEffort"),
        **({"conditions": status["conditions"]} if "conditions" in status else {}),
    }


def write_failure(pod: Json, reason: str, message: str) -> None:
    """A pod that ended by what happened to its node: containers still running are seen as killed."""
    pod["status"].update(phase="Failed", reason=reason, message=message)
    for container in pod["status"].get("containerStatuses") or []:
        running = container["state"].get("running")
        if running or "waiting" in container["state"]:
            started = running["startedAt"] if running else None
            container["state"] = {
                "terminated": {"exitCode": 137, "reason": "Error", "startedAt": started, "finishedAt": stamp()}
            }
            container["ready"] = container["started"] = False
    for kind in ("Ready", "ContainersReady"):
        set_condition(pod, condition(kind, "False", "PodFailed"))
