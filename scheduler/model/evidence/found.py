"""`Evidence`: what one source, or several put together, tells about a node's devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from scheduler.model.hardware import GpuModel, Nic, NodeShape


class Source(StrEnum):
    """Where a fact comes from, best first."""

    DRA = "dra"
    ANNOTATION = "annotation"
    LABELS = "labels"
    PASTED = "pasted"


class EvidenceError(ValueError):
    """A source that cannot be read; the message says why, for the administrator."""


@dataclass(frozen=True, slots=True)
class FoundGpu:
    """One GPU. None = this source does not tell."""

    index: int
    uuid: str = ""
    model: GpuModel | None = None
    numa: int | None = None
    switch: int | None = None
    healthy: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FoundNic:
    """One network card; `switch` and `numa` as on its node, None = not told or beside no GPU."""

    index: int
    name: str
    numa: int | None = None
    switch: int | None = None
    rdma: bool = False


@dataclass(frozen=True)
class Evidence:
    """Parts that the source does not tell are None or empty; `told_by` names the source of each part that is there."""

    gpus: tuple[FoundGpu, ...] = ()
    links: tuple[tuple[str, ...], ...] | None = None
    """Matrix over GPUs as `nvidia-smi topo -m` prints it: X, NV<links>, XGMI, PIX, PXB, PHB, NODE, SYS."""
    nics: tuple[FoundNic, ...] | None = None
    name: str = ""
    """What the source calls this kind of machine."""
    cpu: int = 0
    """Millicores of the machine; 0 = not told."""
    memory: int = 0
    """Bytes of the machine; 0 = not told."""
    replicas: int = 1
    """Workers that may share each time-sliced GPU."""
    mig: tuple[tuple[str, int], ...] = ()
    """MIG profile and how many instances of it the node offers."""
    nvlink_domain: str = ""
    told_by: tuple[tuple[str, Source], ...] = ()
    problems: tuple[str, ...] = field(default=(), compare=False)
    """Sources that could not be read, and why."""

    @property
    def model(self) -> GpuModel | None:
        """Model of the node's GPUs (nodes are of one kind)."""
        return next((gpu.model for gpu in self.gpus if gpu.model), None)

    @property
    def source(self) -> str:
        """The source of the device list; empty if there is none."""
        return next((str(source) for part, source in self.told_by if part == "gpus"), "")

    def shape(self) -> NodeShape | None:
        """The layout for the device tables; None as long as the GPU model is not known.

        What nobody tells is never guessed in favour of a node: GPUs without a known NUMA node or switch share none.
        """
        model = self.model
        if self.gpus and model is None:
            return None
        return NodeShape(
            name=self.name or "discovered",
            model=model,
            links=_nvlinks(self.links, len(self.gpus)),
            numa=_numbered([gpu.numa for gpu in self.gpus]),
            switch=_numbered([gpu.switch for gpu in self.gpus]),
            nics=tuple(_nic(nic) for nic in self.nics or ()),
            cpu=self.cpu,
            memory=self.memory,
        )


def merged(better: Evidence, worse: Evidence) -> Evidence:
    """`better`, with the parts that it lacks taken from `worse`. GPUs are matched by UUID where both have them, else by index."""
    if not better.gpus:
        gpus, links, told = worse.gpus, worse.links, dict(worse.told_by)
    else:
        order = _positions(better.gpus, worse.gpus)
        gpus = tuple(
            _filled(gpu, worse.gpus[at]) if at is not None else gpu for gpu, at in zip(better.gpus, order, strict=True)
        )
        links, told = better.links or _reordered(worse.links, order), dict(worse.told_by)
    told |= {part: source for part, source in better.told_by if part != "nics" or better.nics is not None}
    return replace(
        better,
        gpus=gpus,
        links=links,
        nics=worse.nics if better.nics is None else better.nics,
        name=better.name or worse.name,
        cpu=better.cpu or worse.cpu,
        memory=better.memory or worse.memory,
        replicas=max(better.replicas, worse.replicas),
        mig=better.mig or worse.mig,
        nvlink_domain=better.nvlink_domain or worse.nvlink_domain,
        told_by=tuple(told.items()),
        problems=better.problems + worse.problems,
    )


def link_count(cell: str) -> int:
    """NVLink connections (AMD: Infinity Fabric) that a matrix cell stands for."""
    if cell == "XGMI":
        return 1
    return int(cell[2:]) if cell.startswith("NV") and cell[2:].isdigit() else 0


def _nvlinks(links: Sequence[Sequence[str]] | None, count: int) -> tuple[tuple[int, ...], ...]:
    if links is None:
        return ((0,) * count,) * count
    return tuple(tuple(link_count(cell) for cell in row) for row in links)


def _numbered(values: Sequence[int | None]) -> tuple[int, ...]:
    """Unknown places get numbers of their own, below those that are known."""
    return tuple(-1 - at if value is None else value for at, value in enumerate(values))


def _nic(nic: FoundNic) -> Nic:
    return Nic(-1 if nic.numa is None else nic.numa, -1 if nic.switch is None else nic.switch, nic.rdma)


def _positions(better: Sequence[FoundGpu], worse: Sequence[FoundGpu]) -> list[int | None]:
    """Where each GPU of `better` stands in `worse`."""
    by_uuid = {gpu.uuid: at for at, gpu in enumerate(worse) if gpu.uuid}
    by_index = {gpu.index: at for at, gpu in enumerate(worse)}
    if by_uuid and all(gpu.uuid for gpu in better):
        return [by_uuid.get(gpu.uuid) for gpu in better]
    return [by_index.get(gpu.index) for gpu in better]


def _filled(gpu: FoundGpu, other: FoundGpu) -> FoundGpu:
    return replace(
        gpu,
        uuid=gpu.uuid or other.uuid,
        model=gpu.model or other.model,
        numa=other.numa if gpu.numa is None else gpu.numa,
        switch=other.switch if gpu.switch is None else gpu.switch,
        healthy=gpu.healthy and other.healthy,
        reason=gpu.reason or other.reason,
    )


def _reordered(
    links: tuple[tuple[str, ...], ...] | None, order: Sequence[int | None]
) -> tuple[tuple[str, ...], ...] | None:
    """The matrix for another order of GPUs; None if it does not cover them all."""
    rows = [at for at in order if at is not None]
    if links is None or len(rows) != len(order) or max(rows, default=-1) >= len(links):
        return None
    return tuple(tuple(links[a][b] for b in rows) for a in rows)
