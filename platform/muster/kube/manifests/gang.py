"""What a manifest is made of: an attempt and its workers as plain values, read from the rows once per run of an intent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from muster.clusters.choices import Binding


@dataclass(frozen=True)
class Device:
    """One held device. `kind` is a HoldKind; `milli` thousandths of the GPU; `start` and `profile` only for MIG."""

    index: int
    uuid: str
    kind: str
    milli: int = 1000
    profile: str = ""
    start: int | None = None
    memory_bytes: int = 0
    resource: str = "nvidia.com/gpu"
    flavor: str = ""


@dataclass(frozen=True)
class Member:
    """One worker with where it goes. `spec` is its role's part of the job file, the job's own keys filled in."""

    worker_id: int
    role: str
    role_order: int
    index: int
    rank: int | None
    pod_name: str
    node: str
    gpus: int
    cpu_milli: int
    memory_bytes: int
    spec: dict[str, Any]
    binding: str = Binding.COUNT
    sharing: str = ""
    devices: tuple[Device, ...] = ()
    nics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gang:
    """An attempt. `members` are all its workers in rank order, those without a rank last."""

    attempt_id: int
    job_id: int
    name: str
    namespace: str
    tenant: str
    queue: str
    scheduler_name: str
    members: tuple[Member, ...]
    grace_seconds: int = 30
    checkpoint_command: tuple[str, ...] = ()
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def ranked(self) -> tuple[Member, ...]:
        """The members that have a rank, in rank order."""
        return tuple(member for member in self.members if member.rank is not None)

    def host(self, member: Member) -> str:
        """The stable name under which the others find this member."""
        return f"{member.pod_name}.{self.name}.{self.namespace}.svc"
