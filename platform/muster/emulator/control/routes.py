"""The `/control` endpoint; README.md lists its orders."""

import orjson
from aiohttp import web

from muster.emulator.api.answers import json_answer
from muster.emulator.control import nodes
from muster.emulator.registry.errors import ApiError, Json
from muster.emulator.world import World

WATCH_ORDERS = ("end", "cut", "cut-mid-line", "stall", "expire")


def serve_control(world: World, method: str, path: str, body: bytes) -> web.Response:
    """Carry out one order; 400 says what is wrong with it, 404 that there is no such order."""
    try:
        given: Json = orjson.loads(body) if body.strip() else {}
        answer = _obey(world, method, [step for step in path.split("/") if step][1:], given)
    except (ValueError, TypeError, KeyError) as error:
        return json_answer({"error": str(error)}, 400)
    except ApiError as error:
        return json_answer({"error": error.message}, error.code)
    return json_answer({"error": f"no such order: {method} {path}"}, 404) if answer is None else json_answer(answer)


def _obey(world: World, method: str, steps: list[str], given: Json) -> Json | None:
    match method, steps:
        case _, ["faults"]:
            return _order_faults(world, method, given)
        case "POST", ["watches"]:
            return _order_watches(world, given)
        case "POST", ["compact"]:
            world.store.compact()
            world.lister.forget()
            return {"resourceVersion": str(world.store.rv)}
        case "GET", ["devices"]:
            return nodes.device_state(world)
        case "POST", ["nodes", name, *what]:
            return _order_node(world, name, what, given)
    return None


def _order_faults(world: World, method: str, given: Json) -> Json | None:
    if method == "POST":
        return world.faults.add(given).json()
    if method == "DELETE":
        world.faults.clear()
    return {"faults": world.faults.json()} if method in ("GET", "DELETE") else None


def _order_node(world: World, name: str, what: list[str], given: Json) -> Json | None:
    match what:
        case ["lose"]:
            nodes.lose_node(world, name, power_off=bool(given.get("power_off")))
        case ["restore"]:
            nodes.restore_node(world, name)
        case ["gpus", index]:
            nodes.set_gpu_health(world, name, int(index), healthy=bool(given["healthy"]), xid=given.get("xid"))
        case _:
            return None
    return {}


def _order_watches(world: World, given: Json) -> Json:
    what = given.get("do", "cut")
    if what not in WATCH_ORDERS:
        raise ValueError(f"do is one of {', '.join(WATCH_ORDERS)}")
    return {"watches": world.watches.order(what, given.get("resource"))}
