"""One entry of `jobs`: its shape, what it is waiting for, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model.hardware import LINK_NUMA, LINK_NVLINK, LINK_SWITCH
from scheduler.model.jobs import (
    DeviceKind,
    Devices,
    GpuNeeds,
    JobKind,
    JobShape,
    Locality,
    Role,
    Slice,
    Toleration,
    TopologyNeeds,
    Want,
)
from scheduler.scenario import convert
from scheduler.scenario.document import Section

_WORKER_KEYS = ("workers", "gpus", "gpu_fraction", "gpu_memory", "mig", "cpus", "memory", "min_workers")
_ROLE_KEYS = ("name", *_WORKER_KEYS, "near", "apart")
_JOB_KEYS = (
    "name", "queue", "priority", "submitted", *_WORKER_KEYS, "roles", "gpu", "locality", "nic", "time_slice", "exclusive",
    "topology", "node_selector", "tolerations", "spread", "preemptible", "walltime", "min_runtime", "checkpoint", "held",
    "after", "not_before", "running", "started", "avoid",
)  # fmt: skip
_UNBUILT = {"kind": "training", "stopping": None, "nominated": None, "protected_until": None}
_GPU_KEYS = (
    "model", "min_memory", "min_compute_capability", "nvlink", "min_memory_bandwidth", "min_tensor_cores", "precision", "vendor",
)  # fmt: skip
_DEVICE_KEYS = ("gpus", "gpu_fraction", "gpu_memory", "mig")
FOREVER = float("inf")


@dataclass(frozen=True)
class RunningWorker:
    role: str
    index: int
    node: str
    gpus: int
    mig_start: int


@dataclass(frozen=True)
class Job:
    """A job as the file gives it."""

    name: str
    queue: str
    shape: JobShape
    priority: int
    submitted: float
    not_before: float
    held: bool
    after: tuple[str, ...]
    walltime: float
    min_runtime: float
    started: float
    saved: float
    avoid: tuple[str, ...]
    running: tuple[RunningWorker, ...]
    section: Section


def read_job(file: str, value: Any, line: int) -> Job:
    """Read and check one entry."""
    section = Section(file, "a job", value, line)
    name = section.need("name", convert.text)
    section.what = f"job {name}"
    section.check(_JOB_KEYS, _UNBUILT)
    submitted = section.get("submitted", convert.number, 0.0)
    started = section.get("started", convert.number, submitted)
    checkpoint = section.section("checkpoint")
    if checkpoint:
        checkpoint.check(("every", "last", "grace"))
    return Job(
        name=name,
        queue=section.need("queue", convert.text),
        shape=_shape(section),
        priority=section.get("priority", convert.integer, 50),
        submitted=submitted,
        not_before=section.get("not_before", convert.number, 0.0),
        held=section.get("held", convert.flag, False),
        after=section.get("after", convert.names, ()),
        walltime=section.get("walltime", convert.number, FOREVER),
        min_runtime=section.get("min_runtime", convert.number, 0.0),
        started=started,
        saved=checkpoint.get("last", convert.number, started) if checkpoint else started,
        avoid=section.get("avoid", convert.names, ()),
        running=_running(section),
        section=section,
    )


def _shape(section: Section) -> JobShape:
    gpu = _gpu_needs(section.section("gpu"))
    time_slice = section.get("time_slice", convert.flag, False)
    return JobShape(
        roles=_roles(section, gpu, time_slice=time_slice),
        kind=JobKind.TRAINING,
        topology=_topology(section.section("topology")),
        selector=section.get("node_selector", _labels, ()),
        tolerations=section.get("tolerations", _tolerations, ()),
        locality=_locality(section.section("locality")),
        nic=section.get("nic", convert.want, Want.PREFERRED),
        spread=section.get("spread", convert.flag, False),
        exclusive=section.get("exclusive", convert.flag, False),
        preemptible=section.get("preemptible", convert.flag, True),
    )


def _roles(section: Section, gpu: GpuNeeds, *, time_slice: bool) -> tuple[Role, ...]:
    if "roles" not in section.values:
        return (_role(section, "worker", gpu, time_slice=time_slice),)
    for key in _WORKER_KEYS:
        if key in section.values:
            raise section.error(key, f"`{key}` of {section.what} belongs into its roles")
    roles = []
    for value in section.need("roles", list):
        part = Section(section.file, f"a role of {section.what}", value, section.values.lines["roles"])
        name = part.need("name", convert.text)
        part.what = f"role {name} of {section.what}"
        part.check(_ROLE_KEYS)
        roles.append(_role(part, name, gpu, time_slice=time_slice))
    _check_roles(section, roles)
    return tuple(roles)


def _check_roles(section: Section, roles: list[Role]) -> None:
    names = [role.name for role in roles]
    if not roles or len(set(names)) < len(names):
        raise section.error("roles", f"the roles of {section.what} need different names, and at least one is needed")
    for role in roles:
        for key, other in (("near", role.near), ("apart", role.apart)):
            if other and other not in names:
                raise section.error("roles", f"{section.what} has no role `{other}` to be {key} to")


def _role(section: Section, name: str, gpu: GpuNeeds, *, time_slice: bool) -> Role:
    workers = section.get("workers", convert.positive, 1)
    least = section.get("min_workers", convert.positive, workers)
    if least > workers:
        raise section.error("min_workers", f"`min_workers` in {section.what} is more than its {workers} workers")
    return Role(
        name=name,
        workers=workers,
        min_workers=least,
        cpu=section.get("cpus", convert.millicores, 0),
        memory=section.get("memory", convert.size, 0),
        devices=_devices(section, time_slice=time_slice),
        gpu=gpu,
        near=section.get("near", convert.text, ""),
        apart=section.get("apart", convert.text, ""),
    )


def _devices(section: Section, *, time_slice: bool) -> Devices:
    given = [key for key in _DEVICE_KEYS if key in section.values]
    if len(given) > 1:
        raise section.error(given[1], f"{section.what}: give either `{given[0]}` or `{given[1]}`, not both")
    count = section.get("gpus", convert.count, 0)
    if count:
        return Devices(DeviceKind.SLICE if time_slice else DeviceKind.WHOLE, count)
    if "gpu_fraction" in section.values:
        return Devices(DeviceKind.SHARE, 1, milli=section.need("gpu_fraction", convert.milli_gpu))
    if "gpu_memory" in section.values:
        return Devices(DeviceKind.SHARE, 1, memory=section.need("gpu_memory", convert.size))
    if "mig" in section.values:
        return Devices(DeviceKind.MIG, 1, profile=section.need("mig", convert.text))
    return Devices()


def _gpu_needs(section: Section | None) -> GpuNeeds:
    if section is None:
        return GpuNeeds()
    section.check(_GPU_KEYS)
    return GpuNeeds(
        models=section.get("model", convert.names, ()),
        vendor=section.get("vendor", convert.text, "").lower(),
        min_memory=section.get("min_memory", convert.size, 0),
        min_compute_capability=section.get("min_compute_capability", convert.tenths, 0),
        min_memory_bandwidth=section.get("min_memory_bandwidth", convert.count, 0),
        min_tensor_cores=section.get("min_tensor_cores", convert.count, 0),
        precision=section.get("precision", convert.names, ()),
        nvlink=section.get("nvlink", convert.want, Want.PREFERRED),
    )


def _level_wanted(section: Section) -> tuple[str, Want] | None:
    """`{required: X}` or `{preferred: X}`."""
    given = [want for want in (Want.REQUIRED, Want.PREFERRED) if want in section.values]
    if len(given) > 1:
        raise section.error(given[1], f"{section.what}: give either `required` or `preferred`, not both")
    return (section.need(given[0], convert.text), given[0]) if given else None


def _topology(section: Section | None) -> TopologyNeeds:
    if section is None:
        return TopologyNeeds()
    section.check(("required", "preferred", "slice"))
    level, want = _level_wanted(section) or ("", Want.PREFERRED)
    part = section.section("slice")
    if part is None:
        return TopologyNeeds(level, want)
    part.check(("workers", "required"))
    return TopologyNeeds(
        level, want, Slice(part.need("workers", convert.positive), part.need("required", convert.text))
    )


def _locality(section: Section | None) -> Locality | None:
    if section is None:
        return None
    section.check(("required", "preferred"))
    wanted = _level_wanted(section)
    if wanted is None:
        return None
    if wanted[0] not in {LINK_NVLINK, LINK_SWITCH, LINK_NUMA}:
        raise section.error(wanted[1], f"{section.what}: nvlink, switch or numa is expected, not {wanted[0]!r}")
    return Locality(*wanted)


def _labels(value: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, convert.label_value(one)) for key, one in (value or {}).items()))


def _tolerations(value: Any) -> tuple[Toleration, ...]:
    found = []
    for one in value:
        unknown = set(one) - {"key", "operator", "value", "effect"}
        if unknown:
            raise ValueError(f"unknown key `{min(unknown)}`; known are key, operator, value, effect")
        found.append(
            Toleration(
                key=one.get("key", ""),
                operator=one.get("operator", "Equal"),
                value=convert.label_value(one.get("value", "")),
                effect=one.get("effect", ""),
            )
        )
    return tuple(found)


def _running(section: Section) -> tuple[RunningWorker, ...]:
    part = section.section("running")
    if part is None:
        return ()
    workers = []
    for name, value in part.values.items():
        role, _, index = name.rpartition("-")
        worker = Section(section.file, f"worker {name} of {section.what}", value, part.values.lines[name])
        if not role or not index.isdigit():
            raise part.error(name, f"{section.what}: a worker is named ROLE-INDEX, not `{name}`")
        worker.check(("node", "gpus", "start"))
        workers.append(
            RunningWorker(
                role=role,
                index=int(index),
                node=worker.need("node", convert.text),
                gpus=worker.get("gpus", convert.gpu_indices, 0),
                mig_start=worker.get("start", convert.count, -1),
            )
        )
    return tuple(workers)
