"""The kinds of objects we touch, and their addresses."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Resource:
    """One kind of object as the API server addresses it."""

    prefix: str
    plural: str
    is_namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", sub: str = "") -> str:
        """The path of one object, of a namespace's objects, or of all; `sub` is a sub-resource of one object."""
        parts = [self.prefix]
        if self.is_namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if sub:
            parts.append(sub)
        return "/" + "/".join(parts)


NAMESPACES = Resource("api/v1", "namespaces", is_namespaced=False)
NODES = Resource("api/v1", "nodes", is_namespaced=False)
PODS = Resource("api/v1", "pods")
SERVICES = Resource("api/v1", "services")
CONFIGMAPS = Resource("api/v1", "configmaps")
CLAIMS = Resource("apis/resource.k8s.io/v1", "resourceclaims")
SLICES_GROUP = "resource.k8s.io"
SLICES = Resource(f"apis/{SLICES_GROUP}/v1", "resourceslices", is_namespaced=False)
EVENTS = Resource("apis/events.k8s.io/v1", "events")
