"""The task queues. A message is a doorbell: it carries an id, may be lost, and is safe to answer twice."""

import os
import warnings

from celery import Celery
from celery.platforms import SecurityWarning  # type: ignore[attr-defined]
from kombu import Exchange, Queue

from muster.config.env import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")

# In a container root is the usual user, and messages are JSON: they cannot run code.
warnings.filterwarnings("ignore", category=SecurityWarning)

QUEUES = ("cycle", "preview", "kube", "default")

# name of the task: seconds between two rings
BEATS = {
    "muster.cycle.tasks.tick": 5.0,
    "muster.cycle.tasks.learn_mixes": 300.0,
    "muster.preview.tasks.sample": 30.0,
    "muster.fragmentation.tasks.prune_samples": 3600.0,
    "muster.kube.tasks.sweep": 5.0,
    "muster.kube.tasks.prune_logs": 3600.0,
    "muster.common.tasks.prune_events": 60.0,
    "muster.workloads.tasks.prune_keys": 3600.0,
}


def queue_of(task: str) -> str:
    """`muster.kube.tasks.sweep` goes to the queue `kube`; apps without a queue of their own to `default`."""
    app_name = task.split(".")[1] if task.startswith("muster.") else ""
    return app_name if app_name in QUEUES else "default"


def _route(name: str, *_args: object, **_kwargs: object) -> dict[str, str]:
    return {"queue": queue_of(name)}


def _packages() -> list[str]:
    """Whose tasks this worker knows: those of its queue. What another queue needs, NumPy or the Kubernetes
    client for example, is not even imported here, and a fault in it stops that queue alone."""
    from django.conf import settings

    ours = [name for name in settings.INSTALLED_APPS if name.startswith("muster.")]
    queue = env().process
    return ours if queue == "command" else [name for name in ours if queue_of(f"{name}.tasks") == queue]


app = Celery("muster")
app.conf.update(
    broker_url=env().broker,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"socket_timeout": 15, "socket_connect_timeout": 5, "health_check_interval": 25},
    # Each with its own key: by default all would be bound to the same one, and get every message.
    task_queues=[Queue(name, Exchange("muster"), routing_key=name) for name in QUEUES],
    task_default_queue="default",
    task_default_exchange="muster",
    task_default_routing_key="default",
    task_routes=(_route,),
    task_serializer="json",
    accept_content=["json"],
    result_serializer="json",
    task_ignore_result=True,
    # Early: a task that was killed is not brought back by redelivery but by the next beat.
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    timezone="UTC",
    beat_schedule={
        task: {"task": task, "schedule": seconds, "options": {"expires": seconds}} for task, seconds in BEATS.items()
    },
    # In memory: every beat is an interval, and a file that a killed beat left half written is of no use.
    beat_scheduler="celery.beat:Scheduler",
)
# Read by Celery's Django fix-up: keep one connection over many tasks in workers that have no pool.
app.conf.CELERY_DB_REUSE_MAX = 500
app.autodiscover_tasks(_packages)
