"""What a process pod finds: its environment, its files, its command, on the local machine."""

import base64
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from muster.emulator.registry.errors import Json
from muster.emulator.registry.resources import CONFIGMAPS, SECRETS, Resource
from muster.emulator.registry.store import Store

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_FIELD_MAP = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class BrokenPod(Exception):
    """A container that cannot be started; the message is what its status says."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A process, ready to be started."""

    command: list[str]
    env: dict[str, str]
    folder: Path


@dataclass(frozen=True, slots=True)
class Site:
    """Where a pod's processes are started."""

    store: Store
    folder: Path  # the pod's own
    examples: Path  # where relative paths of a command are looked for
    port: int  # of the rendezvous


def prepare(site: Site, pod: Json, container: Json) -> Launch:
    """Write the container's volumes and work out its command and environment."""
    mounts = _write_volumes(site, pod, container)
    env = _base_env(pod, site.folder)
    for name, value in _declared_env(site.store, pod, container).items():
        env[name] = mapped(expand(value, env), mounts)
    _point_at_loopback(env, site.port)
    words = [*(container.get("command") or []), *(container.get("args") or [])]
    if not words:
        raise BrokenPod("no command specified")
    command = [_locate(mapped(expand(word, env), mounts), site.examples) for word in words]
    return Launch(command, env, _working_folder(container, site.folder, mounts))


def _base_env(pod: Json, folder: Path) -> dict[str, str]:
    """Little is inherited: a pod must not see the emulator's own settings. `python3` is the one we run on."""
    meta = pod["metadata"]
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "HOSTNAME": pod["spec"].get("hostname") or meta["name"],
        "PYTHONUNBUFFERED": "1",
        "MUSTER_POD_UID": meta["uid"],
    }


def _declared_env(store: Store, pod: Json, container: Json) -> dict[str, str]:
    env: dict[str, str] = {}
    namespace = pod["metadata"]["namespace"]
    for source in container.get("envFrom") or []:
        for field, resource in (("configMapRef", CONFIGMAPS), ("secretRef", SECRETS)):
            if field in source:
                data = _data_of(store, resource, namespace, source[field])
                env.update({source.get("prefix", "") + key: value.decode() for key, value in data.items()})
    for variable in container.get("env") or []:
        value = variable.get("value")
        if value is None and variable.get("valueFrom"):
            value = _value_from(store, pod, variable["valueFrom"])
        env[variable["name"]] = value or ""
    return env


def _value_from(store: Store, pod: Json, source: Json) -> str:
    if "fieldRef" in source:
        return field_of(pod, source["fieldRef"]["fieldPath"])
    for field, resource in (("configMapKeyRef", CONFIGMAPS), ("secretKeyRef", SECRETS)):
        if field in source:
            reference = source[field]
            data = _data_of(store, resource, pod["metadata"]["namespace"], reference)
            if reference["key"] in data:
                return data[reference["key"]].decode()
            if not reference.get("optional"):
                raise BrokenPod(f"couldn't find key {reference['key']} in {resource.kind} {reference['name']}")
    return ""


def field_of(pod: Json, path: str) -> str:
    """The downward API."""
    found = _FIELD_MAP.fullmatch(path)
    if found:
        return str((pod["metadata"].get(found[1]) or {}).get(found[2], ""))
    value: object = pod
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return "" if value is None else str(value)


def _data_of(store: Store, resource: Resource, namespace: str, reference: Json) -> dict[str, bytes]:
    """A ConfigMap's or Secret's entries; a missing one that is not optional stops the container."""
    name = reference.get("name") or reference.get("secretName", "")
    entry = store.find(resource, (namespace, name))
    if entry is None:
        if reference.get("optional"):
            return {}
        raise BrokenPod(f'{resource.plural[:-1]} "{name}" not found')
    data = entry.obj.get("data") or {}
    if resource is SECRETS:
        return {key: base64.b64decode(value) for key, value in data.items()}
    binary = {key: base64.b64decode(value) for key, value in (entry.obj.get("binaryData") or {}).items()}
    return {**{key: value.encode() for key, value in data.items()}, **binary}


def _write_volumes(site: Site, pod: Json, container: Json) -> dict[str, Path]:
    """Make each mount a folder below the pod's own; returns where each mount path lies."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    mounts: dict[str, Path] = {}
    for mount in container.get("volumeMounts") or []:
        place = site.folder / "mounts" / mount["mountPath"].strip("/")
        place.mkdir(parents=True, exist_ok=True)
        mounts[mount["mountPath"].rstrip("/")] = place
        volume = volumes.get(mount["name"], {})
        for field, resource in (("configMap", CONFIGMAPS), ("secret", SECRETS)):
            if field in volume:
                data = _data_of(site.store, resource, pod["metadata"]["namespace"], volume[field])
                for key, value in data.items():
                    (place / key).write_bytes(value)
    return mounts


def expand(text: str, env: dict[str, str]) -> str:
    """`$(NAME)` as Kubernetes expands it: `$$` is a dollar sign, an unknown name stays as it is."""

    def replace(found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else env.get(found[1], found[0])

    return _REFERENCE.sub(replace, text)


def mapped(text: str, mounts: dict[str, Path]) -> str:
    """Put a mount's folder in place of its path, where a path begins."""
    for path, place in sorted(mounts.items(), key=lambda item: -len(item[0])):
        text = re.sub(rf"(?<![\w/.-]){re.escape(path)}(?=/|$|[\s:;,'\"])", lambda _: str(place), text)  # noqa: B023
    return text


def _locate(word: str, examples: Path) -> str:
    """A relative path that names a file of the examples folder means that file."""
    if word.startswith(("-", "/")) or ".." in Path(word).parts:
        return word
    found = examples / word
    return str(found) if found.is_file() else word


def _working_folder(container: Json, folder: Path, mounts: dict[str, Path]) -> Path:
    asked = container.get("workingDir")
    place = Path(mapped(asked, mounts)) if asked else folder
    if asked and not place.is_relative_to(folder):
        place = folder / asked.strip("/")
    place.mkdir(parents=True, exist_ok=True)
    return place


def _point_at_loopback(env: dict[str, str], port: int) -> None:
    """All pods are on this machine: the rendezvous is on loopback, at the attempt's own port."""
    env["MASTER_ADDR"], env["MASTER_PORT"] = "127.0.0.1", str(port)
    for name, value in (
        ("PET_MASTER_ADDR", "127.0.0.1"),
        ("PET_MASTER_PORT", str(port)),
        ("JAX_COORDINATOR_ADDRESS", f"127.0.0.1:{port}"),
    ):
        if name in env:
            env[name] = value
