"""ResourceQuota admission: what the pods of a namespace may ask for together."""

from fractions import Fraction

from muster.emulator.registry import pods
from muster.emulator.registry.errors import Json
from muster.emulator.registry.quantities import exact
from muster.emulator.registry.resources import PODS, QUOTAS
from muster.emulator.registry.store import Store


def check_quota(store: Store, namespace: str, pod: Json) -> None:
    """403 when a pod would take its namespace over a quota. Quotas with scopes are not looked at."""
    quotas = store.entries(QUOTAS, namespace)
    if not quotas:
        return
    asked = _usage(pod)
    used: dict[str, Fraction] = {}
    for entry in store.entries(PODS, namespace):
        if entry.obj["status"].get("phase") not in pods.TERMINAL:
            for name, amount in _usage(entry.obj).items():
                used[name] = used.get(name, Fraction(0)) + amount
    for quota in quotas:
        hard = {name: exact(limit) for name, limit in (quota.obj.get("spec", {}).get("hard") or {}).items()}
        over = [
            name for name, limit in hard.items() if asked.get(name, 0) > 0 and asked[name] + used.get(name, 0) > limit
        ]
        if over:
            told = [_listed(over, amounts) for amounts in (asked, used, hard)]
            why = f"exceeded quota: {quota.obj['metadata']['name']}, requested: {told[0]}, used: {told[1]}, limited: {told[2]}"
            raise PODS.forbidden(pod["metadata"]["name"], why)


def _listed(names: list[str], amounts: dict[str, Fraction]) -> str:
    return ",".join(f"{name}={_written(amounts.get(name, Fraction(0)))}" for name in sorted(names))


def _written(amount: Fraction) -> str:
    return str(int(amount)) if amount.denominator == 1 else f"{int(amount * 1000)}m"


def _usage(pod: Json) -> dict[str, Fraction]:
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
