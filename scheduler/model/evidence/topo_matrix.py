"""Reads what `nvidia-smi topo -m` prints, also when a terminal wrapped its lines or a mail turned tabs into spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scheduler.model.evidence.found import Evidence, EvidenceError, FoundGpu, FoundNic, Source

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LINK = re.compile(r"X|NV\d+|XGMI|PIX|PXB|PHB|NODE|SYS|SOC")
_GPU = re.compile(r"GPU\d+")
_NIC = re.compile(r"NIC\d+|mlx\d+_\w+|[a-z]+\d+_\d+|hfi1_\d+|bnxt_re\w*|efa_\d+")
_NIC_NAME = re.compile(r"(NIC\d+):\s*(\S+)")
_LEGEND = re.compile(r"\b(?:NIC )?Legend:")
_SAME_SWITCH = frozenset({"PIX", "PXB"})
_SAME_NUMA = frozenset({"PIX", "PXB", "PHB", "NODE"})


class _Word(str):
    """A word of the text with the number of its line, from 1."""

    __slots__ = ("line",)
    line: int


@dataclass(frozen=True)
class TopoMatrix:
    """The matrix as printed. Columns are devices; NIC rows may be missing, for the columns say the same."""

    devices: tuple[str, ...]
    cells: Mapping[str, tuple[str, ...]]
    """Row name -> one link per device."""
    affinity: Mapping[str, tuple[str, ...]]
    """Row name -> what follows the links: CPU affinity, NUMA affinity, ..."""
    has_numa: bool
    nic_names: Mapping[str, str]

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(name for name in self.devices if _GPU.fullmatch(name))

    @property
    def nics(self) -> tuple[str, ...]:
        return tuple(name for name in self.devices if not _GPU.fullmatch(name))

    def link(self, a: str, b: str) -> str:
        return self.cells[a][self.devices.index(b)]


def parse_topo(text: str) -> TopoMatrix:
    """Parse the whole output, legends included. Errors name the line."""
    clean = _ESCAPES.sub("", text)
    lines = ["" if line.lstrip().startswith("#") else line for line in clean.splitlines()]
    body = "\n".join(lines)
    nic_names = dict(_NIC_NAME.findall(body))
    devices, words = _header(list(_words(lines)))
    cells, affinity = _rows(devices, words)
    missing = [name for name in devices if _GPU.fullmatch(name) and name not in cells]
    if missing:
        raise EvidenceError(f"line {words[-1].line}: no row for {', '.join(missing)}")
    return TopoMatrix(devices, cells, affinity, "NUMA Affinity" in body.replace("\t", " "), nic_names)


def _words(lines: Sequence[str]) -> Iterator[_Word]:
    """The words up to the legend."""
    for number, line in enumerate(lines, 1):
        before, *legend = _LEGEND.split(line)
        for text in before.split():
            word = _Word(text)
            word.line = number
            yield word
        if legend:
            return


@lru_cache(maxsize=64)
def from_topo(text: str) -> Evidence:
    """GPUs, links and NICs of the matrix. It does not tell the GPU model. Kept: thousands of nodes may share one text."""
    matrix = parse_topo(text)
    numa, switch = _numa_of(matrix), _switches_of(matrix)
    return Evidence(
        gpus=tuple(FoundGpu(int(name[3:]), numa=numa[name], switch=switch[name]) for name in matrix.gpus),
        links=tuple(tuple(matrix.link(a, b) for b in matrix.gpus) for a in matrix.gpus),
        nics=tuple(_nic(matrix, at, name, numa=numa, switch=switch) for at, name in enumerate(matrix.nics)),
        told_by=tuple((part, Source.PASTED) for part in ("gpus", "links", "nics")),
    )


def _header(tokens: Sequence[_Word]) -> tuple[tuple[str, ...], Sequence[_Word]]:
    """Device names up to where the first row begins, and the tokens from there on."""
    if "GPU0" not in tokens:
        raise EvidenceError("no GPU0 column: this is not the output of `nvidia-smi topo -m`")
    start = tokens.index("GPU0")
    if "GPU0" not in tokens[start + 1 :]:
        raise EvidenceError(f"line {tokens[start].line}: the header is there, but no row of GPU0")
    end = tokens.index("GPU0", start + 1)
    names = tuple(token for token in tokens[start:end] if _GPU.fullmatch(token) or _NIC.fullmatch(token))
    if len(set(names)) != len(names):
        raise EvidenceError(f"line {tokens[start].line}: a device has two columns")
    return names, tokens[end:]


def _rows(
    devices: tuple[str, ...], tokens: Sequence[_Word]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """A row is its name, one link per device, and whatever stands before the next row's name."""
    cells: dict[str, tuple[str, ...]] = {}
    affinity: dict[str, tuple[str, ...]] = {}
    starts = [at for at, token in enumerate(tokens) if token in devices]
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        name, row = tokens[start], tuple(tokens[start + 1 : start + 1 + len(devices)])
        wrong = [cell for cell in row if not _LINK.fullmatch(cell)]
        if wrong or len(row) < len(devices):
            line = wrong[0].line if wrong else name.line
            found = wrong[0] if wrong else f"only {len(row)}"
            raise EvidenceError(f"line {line}: row {name}: {len(devices)} links expected, {found} found")
        cells[name] = row
        affinity[name] = tuple(tokens[start + 1 + len(devices) : end])
    return cells, affinity


def _numa_of(matrix: TopoMatrix) -> dict[str, int | None]:
    """From the NUMA column; without one, GPUs with the same CPUs are taken to share a node."""
    if matrix.has_numa:
        told = {name: matrix.affinity[name][1:2] for name in matrix.gpus}
        return {name: int(value[0]) if value and value[0].isdigit() else None for name, value in told.items()}
    groups = list(dict.fromkeys(matrix.affinity[name][:1] for name in matrix.gpus))
    return {name: groups.index(matrix.affinity[name][:1]) if matrix.affinity[name] else None for name in matrix.gpus}


def _switches_of(matrix: TopoMatrix) -> dict[str, int | None]:
    """Number the PCIe switches. NVLink hides the PCIe path between two GPUs, but a NIC that both reach without leaving the
    switch gives it away."""
    switches: dict[str, int | None] = dict.fromkeys(matrix.gpus)
    count = 0
    for name in matrix.gpus:
        earlier = (other for other in matrix.gpus[: matrix.gpus.index(name)] if _share_switch(matrix, name, other))
        near = next(earlier, None)
        if near is None:
            switches[name], count = count, count + 1
        else:
            switches[name] = switches[near]
    return switches


def _share_switch(matrix: TopoMatrix, a: str, b: str) -> bool:
    if matrix.link(a, b) in _SAME_SWITCH:
        return True
    return any({matrix.link(a, nic), matrix.link(b, nic)} <= _SAME_SWITCH for nic in matrix.nics)


def _nic(
    matrix: TopoMatrix, at: int, name: str, *, numa: Mapping[str, int | None], switch: Mapping[str, int | None]
) -> FoundNic:
    """A NIC stands where the nearest GPUs stand."""
    beside = next((gpu for gpu in matrix.gpus if matrix.link(gpu, name) in _SAME_SWITCH), None)
    near = beside or next((gpu for gpu in matrix.gpus if matrix.link(gpu, name) in _SAME_NUMA), None)
    return FoundNic(
        index=at,
        name=matrix.nic_names.get(name, name),
        numa=numa[near] if near else None,
        switch=switch[beside] if beside else None,
        rdma=True,  # `topo -m` lists RDMA devices only
    )
