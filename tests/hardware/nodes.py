"""Node tables for tests that need no more than a layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.model.catalogue import SHAPES
from scheduler.model.columns import objects
from scheduler.model.nodes import Nodes


def nodes(shape: str, *, domains: Sequence[Sequence[int]], nvlink_domain: Sequence[int] | None = None) -> Nodes:
    """Healthy, empty nodes of one shape, one per row of `domains`."""
    count, wired = len(domains), SHAPES[shape]
    no, zero = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    return Nodes(
        key=np.arange(1, count + 1),
        name=objects(f"n{i}" for i in range(count)),
        shape=objects([wired] * count),
        cpu=np.full(count, wired.cpu),
        memory=np.full(count, wired.memory),
        domains=np.array(domains, dtype=np.int64).reshape(count, -1),
        nvlink_domain=np.full(count, -1) if nvlink_domain is None else np.array(nvlink_domain),
        labels=objects([()] * count),
        taints=objects([()] * count),
        ready=~no,
        cordoned=no.copy(),
        unhealthy=zero.astype(np.uint32),
        others_gpus=zero.astype(np.uint32),
        others_cpu=zero.copy(),
        others_memory=zero.copy(),
        replicas=zero + 1,
        exact=~no,
        images=objects([frozenset()] * count),
    )
