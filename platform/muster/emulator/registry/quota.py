"""ResourceQuota admission: what the pods of a namespace may ask for together.

As on a real server the used amounts stand in the quota's status: admission adds to them, the quota controller counts
them anew when pods leave. A quota whose status nobody has written yet refuses nothing.
"""

from fractions import Fraction

from muster.emulator.registry import pods
from muster.emulator.registry.errors import Json
from muster.emulator.registry.quantities import exact
from muster.emulator.registry.resources import PODS, QUOTAS
from muster.emulator.registry.store import Entry, Store

Amounts = dict[str, Fraction]


def charge_quotas(store: Store, namespace: str, pod: Json, *, dry_run: bool) -> None:
    """403 when a pod would take its namespace over a quota; else count it in. Scopes are not looked at."""
    quotas = store.entries(QUOTAS, namespace)
    asked = usage_of(pod) if quotas else {}
    for quota in quotas:
        _check(quota, pod["metadata"]["name"], asked)
    if dry_run:
        return
    for quota in quotas:
        used = _amounts(quota.obj.get("status", {}).get("used"))
        if used:
            write_used(store, quota, {name: amount + asked.get(name, 0) for name, amount in used.items()})


def _check(quota: Entry, name: str, asked: Amounts) -> None:
    status = quota.obj.get("status", {})
    hard, used = _amounts(status.get("hard")), _amounts(status.get("used"))
    over = [kind for kind, limit in hard.items() if asked.get(kind, 0) and asked[kind] + used.get(kind, 0) > limit]
    if over:
        told = [_listed(over, amounts) for amounts in (asked, used, hard)]
        meta = quota.obj["metadata"]
        why = f"exceeded quota: {meta['name']}, requested: {told[0]}, used: {told[1]}, limited: {told[2]}"
        raise PODS.forbidden(name, why)


def write_used(store: Store, quota: Entry, used: Amounts) -> None:
    """Write a quota's status: its limits, and what is used of each."""
    changed = quota.copy()
    hard = changed.get("spec", {}).get("hard") or {}
    written = {name: _written(used.get(name, Fraction(0))) for name in hard}
    changed["status"] = {"hard": dict(hard), "used": written}
    store.update(QUOTAS, changed)


def usage_of(pod: Json) -> Amounts:
    """A pod in the names a quota uses: `pods`, `requests.cpu`, `cpu`, `requests.nvidia.com/gpu`, `limits.cpu`."""
    usage = {"pods": Fraction(1), "count/pods": Fraction(1)}
    for name, amount in pods.requests_of(pod["spec"]).items():
        exactly = Fraction(amount, 1000) if name == "cpu" else Fraction(amount)
        usage[f"requests.{name}"] = exactly
        if "/" not in name:
            usage[name] = exactly
    for container in pod["spec"].get("containers") or []:
        for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
            if "/" not in name:
                usage[f"limits.{name}"] = usage.get(f"limits.{name}", Fraction(0)) + exact(value)
    return usage


def _amounts(written: Json | None) -> Amounts:
    return {name: exact(value) for name, value in (written or {}).items()}


def _listed(names: list[str], amounts: Amounts) -> str:
    return ",".join(f"{name}={_written(amounts.get(name, Fraction(0)))}" for name in sorted(names))


def _written(amount: Fraction) -> str:
    return str(int(amount)) if amount.denominator == 1 else f"{int(amount * 1000)}m"
