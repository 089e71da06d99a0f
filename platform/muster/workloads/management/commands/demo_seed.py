"""`demo_seed`: the demo's tenants, people, queues, quotas and cluster."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from muster.workloads.demo.seed import seed


class Command(BaseCommand):
    """Runs at every `muster up`; changes nothing that is there."""

    help = "Make the demo's tenants, people, queues and quotas, and register the cluster of MUSTER_KUBECONFIG."

    def handle(self, *args: Any, **options: Any) -> None:
        seed(settings.MUSTER.data_dir, settings.MUSTER.kubeconfig)
