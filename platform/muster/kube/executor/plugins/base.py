"""The three extension points of the executor. Their names and arguments stand in the cluster's profile, beside the core's eight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from muster.kube.gateway import Gateway
from muster.kube.manifests.gang import Gang, Member

Json = dict[str, Any]


@dataclass(frozen=True)
class Binding:
    """A gang whose pods were all accepted. `pods` by worker pk, as the server returned them; `members` are to be bound now."""

    gateway: Gateway
    gang: Gang
    members: tuple[Member, ...]
    pods: Mapping[int, Json]


class PreBind(Protocol):
    """Last look before anything is bound; raising Refused takes the whole gang back."""

    def pre_bind(self, binding: Binding) -> None: ...


class Bind(Protocol):
    """Binds one member; the first plugin that returns True has done it. Raising Refused takes the whole gang back."""

    def bind(self, binding: Binding, member: Member) -> bool: ...


class PostBind(Protocol):
    """Told once every member is bound; what it raises is logged and changes nothing."""

    def post_bind(self, binding: Binding) -> None: ...
