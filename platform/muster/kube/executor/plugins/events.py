"""PostBind `events`: a Scheduled event per pod, as `kubectl describe` shows it. One more request per pod: off by default."""

from __future__ import annotations

from muster.common import clock
from muster.kube.executor.plugins.base import Binding
from muster.kube.executor.requests import all_of
from muster.kube.manifests.gang import Member
from muster.kube.resources import EVENTS


class Events:
    """Writes events.k8s.io/v1 events in the scheduler's name."""

    def post_bind(self, binding: Binding) -> None:
        def tell(member: Member) -> None:
            binding.gateway.create(EVENTS, binding.gang.namespace, _event(binding, member))

        all_of(tell, binding.members)


def _event(binding: Binding, member: Member) -> dict[str, object]:
    gang, pod = binding.gang, binding.pods[member.worker_id]["metadata"]
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{member.pod_name}.", "namespace": gang.namespace},
        "eventTime": clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": gang.scheduler_name,
        "reportingInstance": f"{gang.scheduler_name}-executor",
        "action": "Binding",
        "reason": "Scheduled",
        "type": "Normal",
        "note": f"Successfully assigned {gang.namespace}/{member.pod_name} to {member.node}",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": gang.namespace,
            "name": member.pod_name,
            "uid": pod["uid"],
        },
    }
