"""The aiohttp application: one handler, which reads the request and finds who answers it."""

import asyncio
import hmac
import logging
from collections.abc import Callable

import orjson
from aiohttp import web

from muster.emulator.api import objects, pods
from muster.emulator.api.answers import check_acceptable, error_answer
from muster.emulator.api.discovery import discover
from muster.emulator.api.logs import serve_log
from muster.emulator.api.objects import Call
from muster.emulator.api.routes import Target, flag, method_not_allowed, resolve
from muster.emulator.control.faults import Fault
from muster.emulator.control.routes import serve_control
from muster.emulator.registry.errors import ApiError, Json, bad_request
from muster.emulator.world import World

_log = logging.getLogger(__name__)
LARGEST_BODY = 16 << 20
SUBRESOURCES: dict[tuple[str, str], Callable[[World, Call], web.Response]] = {
    ("POST", "binding"): pods.bind,
    ("POST", "eviction"): pods.evict,
}
FOREVER = 24 * 3600.0  # seconds: longer than any client waits


def build_app(world: World, token: str | None) -> web.Application:
    app = web.Application(client_max_size=LARGEST_BODY)
    front = _Front(world, token)
    app.router.add_route("*", "/{path:.*}", front.handle)
    return app


class _Front:
    def __init__(self, world: World, token: str | None):
        self._world = world
        self._token = f"Bearer {token}" if token else None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_caller(request)
            if request.path.startswith("/control"):
                return serve_control(self._world, request.method, request.path, await request.read())
            return await self._serve(request)
        except ApiError as error:
            return error_answer(error)

    def _check_caller(self, request: web.Request) -> None:
        if "Origin" in request.headers or "Sec-Fetch-Site" in request.headers:
            # A page that somebody has open must not start processes here, token or not.
            raise ApiError(403, "Forbidden", "the emulator answers no browsers")
        given = request.headers.get("Authorization", "")
        if self._token is not None and not hmac.compare_digest(given.encode(), self._token.encode()):
            raise ApiError(401, "Unauthorized", "Unauthorized")

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read() if request.can_read_body else b""
        query: Json = dict(request.query)
        target = None
        found: web.StreamResponse | None = (
            discover(request.path, request.headers.get("Accept", "")) if request.method == "GET" else None
        )
        if found is None:
            target = resolve(request.path)
        fault = self._fault(request, target, query, body)
        if fault is not None:
            answer = await _suffer(request, fault)
            if answer is not None:
                return answer
        if found is None:
            if target is None:
                return web.Response(status=404, text="404 page not found\n")
            found = await self._answer(request, target, query, body)
        if fault is not None and fault.action == "lose-reply":
            return _drop(request)
        return found

    def _fault(self, request: web.Request, target: Target | None, query: Json, body: bytes) -> Fault | None:
        if not self._world.faults:
            return None
        method = "WATCH" if flag(query, "watch") and request.method == "GET" else request.method
        name = target.name if target is not None and target.name else _name_in(body)
        return self._world.faults.strike(method, request.path, name)

    async def _answer(self, request: web.Request, target: Target, query: Json, body: bytes) -> web.StreamResponse:
        """A request on objects: the two that stream, then those that are done at once."""
        if request.method == "GET" and target.subresource == "log":
            return await serve_log(self._world, request, target.key, query)
        if request.method == "GET" and target.subresource is None and flag(query, "watch"):
            return await self._world.watches.serve(request, target, query)
        accept = request.headers.get("Accept", "")
        check_acceptable(accept)
        content_type = request.headers.get("Content-Type", "")
        return self._act(Call(request.method, target, query, body, content_type, accept))

    def _act(self, call: Call) -> web.Response:
        act = SUBRESOURCES.get((call.method, call.target.subresource or ""))
        if act is None and call.target.subresource in (None, "status"):
            act = objects.VERBS.get(call.method)
        if act is None:
            raise method_not_allowed()
        try:
            return act(self._world, call)
        except (AttributeError, TypeError, KeyError, ValueError) as error:
            # A body of the wrong form: the real server's decoder refuses it, ours meets it where it is used.
            _log.info("refused %s %s", call.method, call.target, exc_info=True)
            raise bad_request(
                f"{call.target.resource.kind} cannot be handled: json: cannot unmarshal: {error!r}"
            ) from error


async def _suffer(request: web.Request, fault: Fault) -> web.StreamResponse | None:
    """Do what a fault says before the request is served; None when it is to be served all the same."""
    match fault.action:
        case "status":
            return error_answer(fault.error())
        case "drop":
            return _drop(request)
        case "hang":
            await asyncio.sleep(FOREVER if fault.seconds is None else fault.seconds)
            return _drop(request)
        case "slow":
            await asyncio.sleep(1 if fault.seconds is None else fault.seconds)
    return None


def _drop(request: web.Request) -> web.StreamResponse:
    """Close the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def _name_in(body: bytes) -> str:
    """The name in a body that creates something; "" when there is none."""
    try:
        meta = orjson.loads(body)["metadata"]
        return str(meta.get("name") or meta.get("generateName") or "")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return ""
