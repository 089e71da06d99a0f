"""Finding queues."""

from __future__ import annotations

import difflib

from django.db.models import QuerySet

from muster.accounts.standing import Standing
from muster.common.errors import Invalid
from muster.quotas.models import PriorityClass, Queue

DEFAULT_PRIORITY = 50


def visible_queues(standing: Standing) -> QuerySet[Queue]:
    """Every queue for whoever is a member of any tenant: names and totals are shared."""
    queues = Queue.objects.select_related("tenant")
    return queues if standing.is_anybody else queues.none()


def submit_queues(standing: Standing) -> QuerySet[Queue]:
    """The queues of the user's tenants; a platform admin who is in none may name any."""
    queues = Queue.objects.select_related("tenant")
    if standing.is_platform_admin and not standing.roles:
        return queues
    return queues.filter(tenant_id__in=standing.roles)


def find_queue(standing: Standing, name: str) -> Queue:
    """The leaf queue that `name` or `tenant/name` means to this user; raises Invalid naming the candidates."""
    tenant_name, _, bare = name.rpartition("/")
    queues = submit_queues(standing)
    if tenant_name and standing.is_platform_admin:
        queues = Queue.objects.select_related("tenant")
    found = list(queues.filter(name=bare, **({"tenant__name": tenant_name} if tenant_name else {})))
    if not found:
        raise _no_such_queue(name, [queue.full_name if tenant_name else queue.name for queue in queues])
    if len(found) > 1:
        names = ", ".join(sorted(queue.full_name for queue in found))
        raise _bad_queue(f"Several of your queues are called `{name}`: write one of {names}.")
    below = sorted(Queue.objects.filter(parent=found[0]).values_list("name", flat=True))
    if below:
        raise _bad_queue(f"`{name}` takes no jobs, its queues do: {', '.join(below)}.")
    return found[0]


def _no_such_queue(name: str, known: list[str]) -> Invalid:
    close = difflib.get_close_matches(name, known, n=1)
    return _bad_queue(f"You have no queue `{name}`" + (f"; did you mean `{close[0]}`?" if close else "."))


def _bad_queue(message: str) -> Invalid:
    return Invalid(message, fields={"queue": [message]})


def find_priority(priority: int | str | None) -> tuple[int, PriorityClass | None]:
    """Value and class of a priority: a number, a class's name, or None for the default."""
    if isinstance(priority, int):
        return priority, None
    classes = list(PriorityClass.objects.all())
    if priority is None:
        default = next((found for found in classes if found.is_default), None)
        return (default.value, default) if default else (DEFAULT_PRIORITY, None)
    named = next((found for found in classes if found.name == priority), None)
    if named is None:
        names = ", ".join(found.name for found in classes) or "none is set up"
        message = f"There is no priority class `{priority}` ({names})."
        raise Invalid(message, fields={"priority": [message]})
    return named.value, named
