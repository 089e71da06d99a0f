"""Making one Placement true: create every pod unbound, then bind every pod; or take everything of it back.

Every step may be done twice: a process that dies anywhere leaves a lease that runs out, and the next one begins anew, finding as
"already there" whatever the first had done.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from muster.clusters.models import Node
from muster.common import clock
from muster.kube import errors
from muster.kube.executor.load import load_gang
from muster.kube.executor.plugins.base import Binding
from muster.kube.executor.plugins.registry import Plugins
from muster.kube.executor.requests import Refused, all_of, chunks, create
from muster.kube.executor.undo import undo
from muster.kube.gateway import Gateway
from muster.kube.manifests import objects
from muster.kube.manifests.devices import NoMechanism
from muster.kube.manifests.gang import Gang, Member
from muster.kube.manifests.pods import pod
from muster.kube.resources import CONFIGMAPS, NAMESPACES, PODS, SERVICES
from muster.placements import actions
from muster.placements.choices import IntentState
from muster.placements.models import Placement
from muster.workloads.choices import AttemptState

log = structlog.get_logger(__name__)

Json = dict[str, Any]

BIND_CLOCK = dt.timedelta(seconds=60)
"""So long a placement may stand without a pod accepted or bound; then all of it is taken back."""


class Interrupted(Exception):
    """The lease is lost, or the attempt is being taken back: nothing more may be made."""


@dataclass
class PlacementRun:
    """One claim of one placement."""

    placement: Placement
    gateway: Gateway
    plugins: Plugins
    pods: dict[int, Json] = field(default_factory=dict)

    def run(self) -> None:
        """1. create 2. bind 3. report; or refuse and take back."""
        gang = load_gang(self.placement.attempt_id)
        if actions.is_unwinding(self.placement):
            self._take_back(gang)
            return
        try:
            members = self._members(gang)
            self._create(gang, members)
            self._bind(gang, members)
        except Interrupted:
            if actions.is_unwinding(self.placement):
                self._take_back(gang)
        except (Refused, NoMechanism) as refusal:
            self._refuse(gang, refusal.message, getattr(refusal, "node", ""))
        except errors.KubeError as trouble:
            self._later(gang, trouble)
        else:
            actions.record_bound(self.placement)
            actions.finish_intent(self.placement)

    def _members(self, gang: Gang) -> tuple[Member, ...]:
        """The workers this placement names; growing gangs name only the new ones."""
        named = set(self.placement.workers.values_list("pk", flat=True))
        return tuple(member for member in gang.members if member.worker_id in named)

    def _create(self, gang: Gang, members: Sequence[Member]) -> None:
        """The owner, the files, then all pods, unbound."""
        owners = objects.owner(self._create_owner(gang))
        create(self.gateway, CONFIGMAPS, objects.config_map(gang, owners))
        for number, chunk in enumerate(chunks(members)):
            if number:
                self._go_on()
            made = all_of(lambda member: create(self.gateway, PODS, pod(gang, member, owners)), chunk)
            found = {member.worker_id: body for member, body in zip(chunk, made, strict=True)}
            self.pods |= found
            metas = {key: body["metadata"] for key, body in found.items()}
            actions.record_created(
                self.placement, {key: actions.PodMade(meta["name"], meta["uid"]) for key, meta in metas.items()}
            )

    def _create_owner(self, gang: Gang) -> Json:
        """The Service; a tenant's first one makes its namespace."""
        try:
            return create(self.gateway, SERVICES, objects.service(gang))
        except Refused as refusal:
            if not isinstance(refusal.__cause__, errors.NotFound):
                raise
        self._create_namespace(gang)
        return create(self.gateway, SERVICES, objects.service(gang))

    def _create_namespace(self, gang: Gang) -> None:
        try:
            self.gateway.create(NAMESPACES, "", objects.namespace(gang))
        except errors.AlreadyExists:
            # Another gang of this tenant was faster.
            return
        except errors.Forbidden as error:
            raise Refused(f"Namespace {gang.namespace} is missing and may not be made: {error.message}") from error

    def _bind(self, gang: Gang, members: tuple[Member, ...]) -> None:
        """Look at the nodes once more, then bind every member."""
        binding = Binding(self.gateway, gang, members, self.pods)
        for check in self.plugins.pre_bind:
            check.pre_bind(binding)
        for chunk in chunks(members):
            self._go_on()
            all_of(lambda member: self._bind_one(binding, member), chunk)
        for listener in self.plugins.post_bind:
            try:
                listener.post_bind(binding)
            except (Refused, errors.KubeError) as error:
                log.warning("post_bind.failed", plugin=type(listener).__name__, error=error.message)

    def _bind_one(self, binding: Binding, member: Member) -> None:
        if not any(plugin.bind(binding, member) for plugin in self.plugins.bind):
            raise Refused(f"No bind plugin of the profile takes {member.pod_name}.")

    def _go_on(self) -> None:
        """Before each chunk: a lease lost means that another process does this now."""
        if not actions.renew_lease(self.placement):
            raise Interrupted

    def _later(self, gang: Gang, trouble: errors.KubeError) -> None:
        """Trouble that passes is waited for, but not longer than the bind clock."""
        if clock.now() - self.placement.created_at > BIND_CLOCK:
            self._refuse(gang, f"Not bound within {BIND_CLOCK.seconds} s: {trouble.message}", "")
        else:
            actions.retry_intent(self.placement, trouble.message)

    def _refuse(self, gang: Gang, message: str, node_name: str) -> None:
        log.info("placement.refused", attempt=gang.attempt_id, reason=message)
        node = Node.objects.filter(cluster_id=self.placement.cluster_id, name=node_name).first() if node_name else None
        actions.refuse_placement(self.placement, message, node_id=node.pk if node else None)
        self._take_back(gang)

    def _take_back(self, gang: Gang) -> None:
        """Delete what there is; trouble on the way leaves the intent open, so that the next claim goes on."""
        self.placement.attempt.refresh_from_db(fields=["state"])
        is_growth = self.placement.attempt.state == AttemptState.RUNNING
        only = {member.worker_id for member in self._members(gang)} if is_growth else None
        try:
            undo(self.gateway, gang, only=only)
        except errors.KubeError as trouble:
            actions.retry_intent(self.placement, trouble.message)
        else:
            actions.finish_intent(self.placement, IntentState.UNDONE)
