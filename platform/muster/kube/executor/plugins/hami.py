"""Bind `hami`: HAMi's device plugin reads node, time and phase from the pod, written in the very request that binds it."""

from __future__ import annotations

from muster.common import clock
from muster.kube.executor import requests
from muster.kube.executor.plugins.base import Binding
from muster.kube.manifests.gang import Member


class HamiBinder:
    """Binds members on pools whose sharing is `hami`; leaves the others to the next plugin."""

    def bind(self, binding: Binding, member: Member) -> bool:
        if member.sharing != "hami" or not member.devices:
            return False
        stamp = str(int(clock.now().timestamp()))
        told = {"hami.io/vgpu-node": member.node, "hami.io/vgpu-time": stamp, "hami.io/bind-time": stamp}
        requests.bind(binding.gateway, binding.pods[member.worker_id], member.node, told)
        return True
