"""Load from rows: a snapshot from nothing, and after a hundred changes, for clusters of several sizes.

A cluster of N nodes has 8 GPUs on each, half of them held by gangs of one to eight workers, and as many waiting jobs as nodes, of
50 shapes (at most 10,000). Every node carries the labels that GPU Feature Discovery writes.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.stage import Stage

SIZES = (10, 100, 1_000, 5_000, 10_000)
CHANGED = 50
"""Nodes, and as many jobs."""
REPEATS = 5
NAMED = {"core.load_full": "1 s", "core.load_100": "20 ms"}

Row = dict[str, Any]


def rows() -> Iterator[Row]:
    """core.load.N per size; core.load_full and core.load_100 at 10,000 nodes."""
    with Stage() as stage:
        os.environ.update(stage.urls)
        _set_up()
        for size in SIZES:
            full, changed = _measure(size)
            yield _row(f"core.load.{size}", full, reference="1 s" if size == SIZES[-1] else None)
            yield _row(f"core.load.{size}.changed", changed, reference="20 ms" if size == SIZES[-1] else None)
        yield _row("core.load_full", full, reference=NAMED["core.load_full"])
        yield _row("core.load_100", changed, reference=NAMED["core.load_100"])


def _row(name: str, seconds: float, *, reference: str | None) -> Row:
    source = "8 GPUs a node, half held, a waiting job per node of 50 shapes; embedded PostgreSQL"
    return {
        "name": name,
        "value": round(seconds * 1000, 2),
        "unit": "ms",
        "better": "lower",
        "reference": reference,
        "source": source,
    }


def _set_up() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "muster.config.settings"
    import django

    django.setup()


def _measure(size: int) -> tuple[float, float]:
    """Median seconds to load a cluster of this size from nothing, and after a hundred changes."""
    from muster.placements.load import forget, load

    cluster_id = fill(size)

    def full() -> None:
        forget()
        load(cluster_id, numbering=True)

    def changed() -> None:
        load(cluster_id, numbering=True)

    times = [_timed(full) for _ in range(REPEATS)]
    for number in range(REPEATS):
        _change(cluster_id, number)
        times.append(_timed(changed))
    return statistics.median(times[:REPEATS]), statistics.median(times[REPEATS:])


def _timed(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _change(cluster_id: int, number: int) -> None:
    """Raise fifty nodes' and fifty jobs' revisions, as a busy cycle does."""
    from muster.clusters.models import Node
    from muster.common.choices import ChangeKind
    from muster.common.events import record_changes
    from muster.workloads.models import Job

    for kind, table in ((ChangeKind.NODE, Node.objects), (ChangeKind.JOB, Job.objects)):
        keys = table.filter(cluster_id=cluster_id).order_by("pk").values_list("pk", flat=True)
        first = number * CHANGED
        record_changes(cluster_id, kind, list(keys[first : first + CHANGED]))


def fill(size: int) -> int:
    """A cluster of this size, written by a few statements; its pk."""
    from django.db import connection

    from muster.clusters.models import Flavor, HardwareShape, NodePool
    from muster.clusters.wiring import digest_of, wiring_of
    from scheduler.model.catalogue import SHAPES
    from tests.support.builders import make_cluster, make_tenant, make_user

    wiring = wiring_of(SHAPES["dgx-h100"])
    Flavor.objects.get_or_create(name="H100-80GB", defaults={"memory_bytes": 80 * 2**30, "compute_capability": 90})
    shape, _ = HardwareShape.objects.get_or_create(
        digest=digest_of(wiring), defaults={"name": "dgx-h100", "source": "labels", "wiring": wiring}
    )
    cluster = make_cluster(f"bench-{size}")
    tenant = make_tenant(f"bench-{size}")
    values = {
        "cluster": cluster.pk,
        "pool": NodePool.objects.get(cluster=cluster).pk,
        "hardware": shape.pk,
        "tenant": tenant.pk,
        "queue": tenant.queues.get(name="train").pk,
        "owner": make_user().pk,
        "nodes": size,
        "waiting": min(size, 10_000),
    }
    with connection.cursor() as cursor:
        for statement in _STATEMENTS:
            cursor.execute(statement, values)
        cursor.execute("ANALYZE")
    return cluster.pk


_STATEMENTS = (
    """INSERT INTO workloads_jobshape (digest, body)
       SELECT 'bench-' || n, jsonb_build_object('kind', 'training', 'workers', 1 + n %% 5, 'gpus', 1 + n / 7,
                                                'cpus', 8, 'memory', 68719476736)
         FROM generate_series(0, 49) n ON CONFLICT (digest) DO NOTHING""",
    """INSERT INTO clusters_node (cluster_id, pool_id, shape_id, name, uid, present, ready, cordoned, labels, taints,
                                  domains, nvlink_domain, cpu_milli, memory_bytes, pods, others_cpu_milli,
                                  others_memory_bytes, others_pods, conditions, sched_rev, created_at)
       SELECT %(cluster)s, %(pool)s, %(hardware)s, 'n' || n, 'u' || n, true, true, false,
              (SELECT jsonb_object_agg('nvidia.com/label-' || l, 'value-' || l) FROM generate_series(1, 30) l)
                || jsonb_build_object('kubernetes.io/hostname', 'n' || n),
              '[]', jsonb_build_object('block', 'b' || n / 512, 'rack', 'r' || n / 16), '', 112000, 2199023255552, 110,
              500, 1073741824, 3, '[]', 1, now()
         FROM generate_series(0, %(nodes)s - 1) n""",
    """INSERT INTO clusters_gpu (node_id, index, uuid, numa, switch, health, health_reason, others_pod)
       SELECT node.id, g, '', g / 4, g / 2, 'ok', '', ''
         FROM clusters_node node, generate_series(0, 7) g WHERE node.cluster_id = %(cluster)s""",
    """INSERT INTO clusters_nic (node_id, index, name, numa, switch, is_rdma, health)
       SELECT node.id, g, 'mlx5_' || g, g / 4, g / 2, true, 'ok'
         FROM clusters_node node, generate_series(0, 7) g WHERE node.cluster_id = %(cluster)s""",
    """INSERT INTO workloads_job (tenant_id, queue_id, cluster_id, owner_id, name, spec, source, shape_id, kind, priority,
                                  state, state_cause, state_message, submitted_at, retries, own_faults, unwinds,
                                  gpus_wanted, workers_wanted, sched_rev, created_at)
       SELECT %(tenant)s, %(queue)s, %(cluster)s, %(owner)s, 'job' || n, '{}', '', shape.id, 'training', 50,
              CASE WHEN n < %(waiting)s THEN 'queued' ELSE 'running' END, '', '', now(), 0, 0, 0, 1, 1, 1, now()
         FROM generate_series(0, %(waiting)s + %(nodes)s / 2 - 1) n
         JOIN workloads_jobshape shape ON shape.digest = 'bench-' || n %% 50""",
    """INSERT INTO workloads_role (job_id, "order", name, workers, min_workers, gpus, cpu_milli, memory_bytes, ends_job)
       SELECT id, 0, 'worker', 1, 1, 8, 8000, 68719476736, false FROM workloads_job WHERE cluster_id = %(cluster)s""",
    """INSERT INTO workloads_attempt (job_id, replica, number, state, cause, message, placement_note, sched_rev, created_at)
       SELECT id, 0, 1, 'running', '', '', '{}', 1, now()
         FROM workloads_job WHERE cluster_id = %(cluster)s AND state = 'running'""",
    """INSERT INTO workloads_worker (attempt_id, role_id, index, node_id, note, pod_name, pod_uid, phase, is_stopping,
                                     reason, message, last_lines)
       SELECT attempt.id, role.id, 0, node.id, '', '', 'u' || attempt.id, 'running', false, '', '', ''
         FROM (SELECT a.id, a.job_id, row_number() OVER (ORDER BY a.id) AS n FROM workloads_attempt a
                 JOIN workloads_job j ON j.id = a.job_id AND j.cluster_id = %(cluster)s) attempt
         JOIN workloads_role role ON role.job_id = attempt.job_id
         JOIN (SELECT id, row_number() OVER (ORDER BY id) AS n FROM clusters_node
                WHERE cluster_id = %(cluster)s) node ON node.n = attempt.n""",
    """INSERT INTO placements_devicehold (gpu_id, worker_id, kind, milli, profile, state, is_observed, since)
       SELECT gpu.id, worker.id, 'whole', 1000, '', 'held', false, now()
         FROM workloads_worker worker
         JOIN clusters_node node ON node.id = worker.node_id AND node.cluster_id = %(cluster)s
         JOIN clusters_gpu gpu ON gpu.node_id = node.id""",
)
