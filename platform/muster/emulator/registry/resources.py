"""The table of what is served: every resource with its names, scope and sub-resources."""

from collections.abc import Callable
from dataclasses import dataclass, field

from muster.emulator.registry import events
from muster.emulator.registry.errors import ApiError, Cause, Json

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A path below one object, as discovery lists it."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = "v1"


STATUS_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class Codec:
    """A second form of a kind that is stored in another one."""

    stored_as: str  # the store's key
    to_stored: Callable[[Json], Json]
    from_stored: Callable[[Json], Json]
    causes: Callable[[Json], list[Cause]]  # what is wrong with a new object in this form


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object. `key` names it in the store."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True
    short: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    has_generation: bool = False
    categories: tuple[str, ...] = ()
    returns_deleted: bool = False  # DELETE answers with the object, not with a Status
    fields: tuple[str, ...] = ()  # field selectors beside metadata.name and metadata.namespace
    codec: Codec | None = None
    key: str = field(init=False)
    head: bytes = field(init=False)  # opens each encoded object

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.codec.stored_as if self.codec else self.qualified)
        object.__setattr__(self, "head", f'{{"kind":"{self.kind}","apiVersion":"{self.api_version}",'.encode())

    @property
    def singular(self) -> str:
        return "endpoints" if self.plural == "endpoints" else self.kind.lower()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The resource as messages name it: `pods`, `leases.coordination.k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def details(self, name: str) -> Json:
        return {"name": name, **({"group": self.group} if self.group else {}), "kind": self.plural}

    def not_found(self, name: str) -> ApiError:
        return ApiError(404, "NotFound", f'{self.qualified} "{name}" not found', details=self.details(name))

    def already_exists(self, name: str) -> ApiError:
        return ApiError(409, "AlreadyExists", f'{self.qualified} "{name}" already exists', details=self.details(name))

    def conflict(self, name: str, why: str) -> ApiError:
        message = f'Operation cannot be fulfilled on {self.qualified} "{name}": {why}'
        return ApiError(409, "Conflict", message, details=self.details(name))

    def forbidden(self, name: str, why: str, causes: list[Cause] | None = None) -> ApiError:
        details: Json = self.details(name)
        if causes:
            details["causes"] = [cause.json() for cause in causes]
        return ApiError(403, "Forbidden", f'{self.qualified} "{name}" is forbidden: {why}', details=details)

    def invalid(self, name: str, causes: list[Cause]) -> ApiError:
        """422 with one cause per field; the sentence names each error once, as the server's aggregate does."""
        texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
        told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        details: Json = {"name": name, **({"group": self.group} if self.group else {}), "kind": self.kind}
        details["causes"] = [cause.json() for cause in causes]
        return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {told}', details=details)


def _status(kind: str, group: str = "") -> Subresource:
    return Subresource("status", kind, STATUS_VERBS, group)


POD_FIELDS = (
    "spec.nodeName", "spec.schedulerName", "spec.restartPolicy", "spec.serviceAccountName", "spec.hostNetwork",
    "status.phase", "status.podIP", "status.nominatedNodeName",
)  # fmt: skip
EVENT_FIELDS = (
    "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
    "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
    "reason", "reportingComponent", "source", "type",
)  # fmt: skip

PODS = Resource(
    "pods", "Pod", short=("po",), categories=("all",), has_generation=True, returns_deleted=True, fields=POD_FIELDS,
    subresources=(
        Subresource("binding", "Binding", ("create",)),
        Subresource("eviction", "Eviction", ("create",), "policy"),
        Subresource("log", "Pod", ("get",)),
        _status("Pod"),
    ),
)  # fmt: skip
NAMESPACES = Resource(
    "namespaces", "Namespace", namespaced=False, short=("ns",), returns_deleted=True, fields=("status.phase",),
    subresources=(_status("Namespace"),), verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
)  # fmt: skip
NODES = Resource(
    "nodes", "Node", namespaced=False, short=("no",), fields=("spec.unschedulable",), subresources=(_status("Node"),)
)
SERVICES = Resource(
    "services", "Service", short=("svc",), categories=("all",), returns_deleted=True, subresources=(_status("Service"),),
    fields=("spec.clusterIP", "spec.type"),
)  # fmt: skip
EVENTS = Resource("events", "Event", short=("ev",), fields=EVENT_FIELDS)
NEW_EVENTS = Resource(
    "events", "Event", "events.k8s.io", short=("ev",),
    codec=Codec(EVENTS.key, events.to_core, events.from_core, events.causes),
)  # fmt: skip
QUOTAS = Resource(
    "resourcequotas", "ResourceQuota", short=("quota",), returns_deleted=True, subresources=(_status("ResourceQuota"),)
)
BUDGETS = Resource(
    "poddisruptionbudgets", "PodDisruptionBudget", "policy", short=("pdb",), has_generation=True,
    subresources=(_status("PodDisruptionBudget", "policy"),),
)  # fmt: skip
PRIORITIES = Resource("priorityclasses", "PriorityClass", "scheduling.k8s.io", namespaced=False, short=("pc",))
SLICES = Resource(
    "resourceslices", "ResourceSlice", "resource.k8s.io", namespaced=False, has_generation=True, returns_deleted=True,
    fields=("spec.driver", "spec.nodeName"),
)  # fmt: skip
CONFIGMAPS = Resource("configmaps", "ConfigMap", short=("cm",))
SECRETS = Resource("secrets", "Secret", fields=("type",))

RESOURCES = (
    CONFIGMAPS,
    Resource("endpoints", "Endpoints", short=("ep",)),
    EVENTS,
    Resource("limitranges", "LimitRange", short=("limits",)),
    NAMESPACES,
    NODES,
    Resource("persistentvolumeclaims", "PersistentVolumeClaim", short=("pvc",), returns_deleted=True),
    Resource("persistentvolumes", "PersistentVolume", namespaced=False, short=("pv",), returns_deleted=True),
    PODS,
    QUOTAS,
    SECRETS,
    Resource("serviceaccounts", "ServiceAccount", short=("sa",), returns_deleted=True),
    SERVICES,
    Resource("jobs", "Job", "batch", has_generation=True, subresources=(_status("Job", "batch"),)),
    Resource("leases", "Lease", "coordination.k8s.io"),
    BUDGETS,
    PRIORITIES,
    SLICES,
    NEW_EVENTS,
)
#: The kinds that have a table of their own.
STORED = tuple(resource for resource in RESOURCES if resource.codec is None)
BY_KEY = {resource.key: resource for resource in STORED}
BY_PATH = {(resource.group, resource.version, resource.plural): resource for resource in RESOURCES}
BY_KIND = {(resource.api_version, resource.kind): resource for resource in RESOURCES}
