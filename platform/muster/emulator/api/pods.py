"""The sub-resources of a pod that create something: binding and eviction."""

from aiohttp import web

from muster.emulator.api.answers import success
from muster.emulator.api.bodies import decode
from muster.emulator.api.objects import Call
from muster.emulator.registry import pods
from muster.emulator.registry.delete import DeleteOptions, delete
from muster.emulator.registry.errors import ApiError, Json, bad_request, internal
from muster.emulator.registry.resources import BUDGETS, PODS
from muster.emulator.registry.selectors import selector_matches
from muster.emulator.registry.store import Entry
from muster.emulator.world import World


def bind(world: World, call: Call) -> web.Response:
    """Give a pod its node. The server does not ask whether the node exists or has room; nor do we."""
    body = decode(call.body, call.content_type)
    name = call.target.key[1]
    meta, target = body.get("metadata") or {}, body.get("target") or {}
    if meta.get("name", name) != name:
        raise bad_request("name in URL does not match name in Binding object")
    if not target.get("name"):
        raise internal("target.name: Required value")
    entry = world.store.get(PODS, call.target.key)
    _check_bindable(entry, meta)
    if call.dry_run:
        return success()
    pod = entry.copy()
    pod["spec"]["nodeName"] = target["name"]
    if meta.get("annotations"):
        pod["metadata"].setdefault("annotations", {}).update(meta["annotations"])
    pod["status"].pop("nominatedNodeName", None)
    pods.set_condition(pod, pods.condition("PodScheduled", "True"))
    world.store.update(PODS, pod)
    return success()


def _check_bindable(entry: Entry, meta: Json) -> None:
    """The reasons for which the server refuses a binding, in its order."""
    pod, name = entry.obj, entry.obj["metadata"]["name"]
    namespace, uid = pod["metadata"]["namespace"], pod["metadata"]["uid"]
    for precondition, had, what in ((meta.get("uid"), uid, "UID"), (meta.get("resourceVersion"), str(entry.rv), "RV")):
        if precondition and precondition != had:
            told = f"{what} in precondition: {precondition}, {what} in object meta: {had}"
            if what == "RV":
                told = f"ResourceVersion in precondition: {precondition}, ResourceVersion in object meta: {had}"
            raise PODS.conflict(
                name,
                f"StorageError: invalid object, Code: 4, Key: /registry/pods/{namespace}/{name}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: {told}",
            )
    if pod["metadata"].get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif pod["spec"].get("nodeName"):
        why = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    elif pod["spec"].get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        return
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    raise ApiError(409, "Conflict", message, details={"name": name, "kind": "pods/binding"})


def evict(world: World, call: Call) -> web.Response:
    """policy/v1 Eviction: a deletion that disruption budgets may refuse."""
    body = decode(call.body, call.content_type)
    given = body.get("deleteOptions") or {}
    entry = world.store.get(PODS, call.target.key)
    phase = entry.obj["status"].get("phase")
    is_guarded = phase == "Running" and not entry.obj["metadata"].get("deletionTimestamp")
    if is_guarded:
        _check_budgets(world, entry)
    if call.dry_run or given.get("dryRun"):
        return success()
    pod = entry.copy()
    target = pods.condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting")
    pods.set_condition(pod, target)
    world.store.update(PODS, pod)
    preconditions = given.get("preconditions") or {}
    options = DeleteOptions(grace=given.get("gracePeriodSeconds"), uid=preconditions.get("uid"))
    delete(world.store, PODS, call.target.key, options)
    return success()


def _check_budgets(world: World, entry: Entry) -> None:
    labels = entry.obj["metadata"].get("labels") or {}
    namespace = entry.obj["metadata"]["namespace"]
    guarding = [
        budget
        for budget in world.store.entries(BUDGETS, namespace)
        if selector_matches(budget.obj.get("spec", {}).get("selector"), labels)
    ]
    if len(guarding) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    for budget in guarding:
        _check_budget(world, budget)


def _check_budget(world: World, budget: Entry) -> None:
    meta, status = budget.obj["metadata"], budget.obj.get("status", {})
    if status.get("observedGeneration", 0) < meta.get("generation", 1):
        raise _blocked(f"The disruption budget {meta['name']} is still being processed by the server.", 10)
    if status.get("disruptionsAllowed", 0) <= 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _blocked(f"The disruption budget {meta['name']} needs {needs} healthy pods and has {has} currently")
    changed = budget.copy()
    changed["status"]["disruptionsAllowed"] -= 1
    world.store.update(BUDGETS, changed)


def _blocked(why: str, retry_after: int | None = None) -> ApiError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    details = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    return ApiError(429, "TooManyRequests", message, details=details, retry_after=retry_after)
