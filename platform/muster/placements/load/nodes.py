"""The table of nodes, with their GPUs as masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import orjson

from muster.placements.load.kept import Kept
from muster.placements.load.sql import Rows, bools, columns, fetch, ints, masks
from scheduler.model.columns import objects
from scheduler.model.nodes import Nodes

# A node that left the cluster stays in the table while a worker of ours may still run there.
_NODES = """
    SELECT n.id, n.sched_rev, n.name, n.shape_id, n.cpu_milli, n.memory_bytes, n.domains::text, n.nvlink_domain,
           n.labels::text, n.taints::text, n.ready AND n.present, n.cordoned,
           coalesce(g.known, 0), coalesce(g.unhealthy, 0), coalesce(g.others, 0), n.others_cpu_milli, n.others_memory_bytes,
           coalesce(p.binding = 'exact', false),
           CASE WHEN p.sharing = 'time-slicing' THEN n.labels ->> 'nvidia.com/gpu.replicas' END
      FROM clusters_node n
      LEFT JOIN clusters_nodepool p ON p.id = n.pool_id
      LEFT JOIN (SELECT gpu.node_id, bit_or(1 << gpu.index) AS known,
                        bit_or(1 << gpu.index) FILTER (WHERE gpu.health <> 'ok') AS unhealthy,
                        bit_or(1 << gpu.index) FILTER (WHERE gpu.others_pod <> '') AS others
                   FROM clusters_gpu gpu JOIN clusters_node node ON node.id = gpu.node_id
                  WHERE node.cluster_id = %(cluster)s AND {gpus}
                  GROUP BY gpu.node_id) g ON g.node_id = n.id
     WHERE n.cluster_id = %(cluster)s AND {nodes}
       AND (n.present OR EXISTS (
            SELECT FROM workloads_worker w JOIN workloads_attempt a ON a.id = w.attempt_id
             WHERE w.node_id = n.id AND a.state <> 'ended'))
     ORDER BY n.id"""
_ALL = {"gpus": "true", "nodes": "true"}
_SOME = {"gpus": "gpu.node_id = ANY(%(keys)s)", "nodes": "n.id = ANY(%(keys)s)"}


def load_nodes(
    cluster_id: int, levels: Sequence[str], kept: Kept, keys: Sequence[int] | None = None
) -> tuple[Nodes, dict[int, int]]:
    """All nodes of a cluster, or those of `keys` that are still there; and the revision of each as read."""
    query = _NODES.format(**(_ALL if keys is None else _SOME))
    rows = fetch(query, {"cluster": cluster_id, "keys": list(keys or ())})
    kept.need_hardware({row[3] for row in rows})
    return _table(rows, levels, kept), {row[0]: row[1] for row in rows}


def _table(rows: Rows, levels: Sequence[str], kept: Kept) -> Nodes:
    (key, _, name, shape, cpu, memory, domains, nvlink, labels, taints, ready, cordoned, known, unhealthy, others,
     others_cpu, others_memory, exact, replicas) = columns(rows, 19)  # fmt: skip
    places = [orjson.loads(text) for text in domains]
    hardware = [kept.hardware_of(one) for one in shape]
    # A GPU of the shape that has no row is not there to be given.
    broken = [bad | (has.all_gpus & ~rows_of) for bad, has, rows_of in zip(unhealthy, hardware, known, strict=True)]
    by_level = [[kept.domain(level, place.get(level)) for level in levels] for place in places]
    return Nodes(
        key=ints(key),
        name=objects(name),
        shape=objects(hardware),
        cpu=ints(cpu),
        memory=ints(memory),
        domains=np.array(by_level, dtype=np.int64).reshape(len(rows), len(levels)),
        nvlink_domain=ints([kept.domain("nvlink_domain", one) for one in nvlink]),
        labels=objects(map(kept.labels_of, labels)),
        taints=objects(map(kept.taints_of, taints)),
        ready=bools(ready),
        cordoned=bools(cordoned),
        unhealthy=masks(broken),
        others_gpus=masks(others),
        others_cpu=ints(others_cpu),
        others_memory=ints(others_memory),
        replicas=ints([int(one or 1) for one in replicas]),
        exact=bools(exact),
        images=objects([frozenset()] * len(rows)),
    )
