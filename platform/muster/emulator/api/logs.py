"""GET pods/NAME/log."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from muster.emulator import clock
from muster.emulator.api.routes import flag, whole_number
from muster.emulator.kubelet.logs import ContainerLog, Line
from muster.emulator.registry.errors import ApiError, Json, bad_request, internal
from muster.emulator.registry.resources import NODES, PODS
from muster.emulator.registry.store import Entry, Key
from muster.emulator.world import World


@dataclass(frozen=True, slots=True)
class LogOptions:
    """PodLogOptions, as far as they are served."""

    follow: bool
    timestamps: bool
    previous: bool
    tail: int | None  # lines
    since: float | None  # seconds since the epoch
    limit: int | None  # bytes

    @classmethod
    def read(cls, query: Json) -> "LogOptions":
        since = whole_number(query, "sinceSeconds")
        start = clock.now() - since if since is not None else None
        if query.get("sinceTime"):
            start = clock.parse_stamp(query["sinceTime"])
        return cls(
            follow=flag(query, "follow"),
            timestamps=flag(query, "timestamps"),
            previous=flag(query, "previous"),
            tail=whole_number(query, "tailLines"),
            since=start,
            limit=whole_number(query, "limitBytes"),
        )

    def render(self, line: Line) -> bytes:
        return clock.nano_stamp(line.at).encode() + b" " + line.text if self.timestamps else line.text


async def serve_log(world: World, request: web.Request, key: Key, query: Json) -> web.StreamResponse:
    """What a container wrote; with follow, until it ends or the client leaves."""
    entry = world.store.get(PODS, key)
    container = _container(entry, query.get("container", ""))
    options = LogOptions.read(query)
    if not entry.obj["spec"].get("nodeName"):
        return web.Response(status=204)
    _check_node(world, entry)
    if options.previous:
        raise bad_request(f'previous terminated container "{container}" in pod "{key[1]}" not found')
    log = world.kubelets.log_of(entry.obj["spec"]["nodeName"], entry.obj["metadata"]["uid"], container)
    if log is None and entry.obj["status"].get("phase") == "Pending":
        raise bad_request(f'container "{container}" in pod "{key[1]}" is waiting to start: ContainerCreating')
    if log is None:
        return web.Response(body=b"", content_type="text/plain")
    if not options.follow:
        return web.Response(body=_limited(b"".join(_chosen(log, options)), options), content_type="text/plain")
    answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    try:
        await _follow(answer, log, options)
        await answer.write_eof()
    except ConnectionResetError:
        pass
    return answer


def _container(entry: Entry, asked: str) -> str:
    pod = entry.obj
    names = [container["name"] for container in pod["spec"]["containers"]]
    if asked:
        if asked not in names:
            raise bad_request(f"container {asked} is not valid for pod {pod['metadata']['name']}")
        return asked
    if len(names) > 1:
        listed = " ".join(names)
        raise bad_request(
            f"a container name must be specified for pod {pod['metadata']['name']}, choose one of: [{listed}]"
        )
    return str(names[0])


def _check_node(world: World, entry: Entry) -> None:
    """The server reads logs from the node's kubelet: no node, no address, no answer."""
    name = entry.obj["spec"]["nodeName"]
    node = world.store.get(NODES, ("", name))
    if not node.obj["status"].get("addresses"):
        raise internal("no preferred addresses found; known addresses: []")
    if not world.kubelets.is_reachable(name):
        address = node.obj["status"]["addresses"][0]["address"]
        raise ApiError(500, None, f'Get "https://{address}:10250/containerLogs": dial tcp {address}:10250: i/o timeout')


def _chosen(log: ContainerLog, options: LogOptions) -> list[bytes]:
    lines = log.lines()
    if options.since is not None:
        lines = [line for line in lines if line.at >= options.since]
    if options.tail is not None:
        lines = lines[-options.tail :] if options.tail > 0 else []
    return [options.render(line) for line in lines]


def _limited(text: bytes, options: LogOptions) -> bytes:
    return text if options.limit is None else text[: options.limit]


async def _follow(answer: web.StreamResponse, log: ContainerLog, options: LogOptions) -> None:
    seen = log.written
    text = _limited(b"".join(_chosen(log, options)), options)
    sent = len(text)
    if text:
        await answer.write(text)
    while not log.is_closed and (options.limit is None or sent < options.limit):
        await log.wait(seen)
        fresh, seen = log.after(seen)
        chunk = b"".join(options.render(line) for line in fresh)
        if options.limit is not None:
            chunk = chunk[: options.limit - sent]
        sent += len(chunk)
        if chunk:
            await answer.write(chunk)
        await asyncio.sleep(0)
