"""Bind `default`: the API's own binding, with the pod's uid as precondition."""

from __future__ import annotations

from muster.kube.executor import requests
from muster.kube.executor.plugins.base import Binding
from muster.kube.manifests.gang import Member


class DefaultBinder:
    """Binds every member to the node it was planned on."""

    def bind(self, binding: Binding, member: Member) -> bool:
        requests.bind(binding.gateway, binding.pods[member.worker_id], member.node)
        return True
