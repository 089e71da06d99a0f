"""Bases of the admin site: every save is an action, and an action's refusal stands beside the field it names.

A form tries its action inside a savepoint that is rolled back; only what would succeed counts as valid. The save then does it
for good.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from muster.common.errors import MusterError


class _Undo(Exception):
    """Leaves a trial's savepoint."""


def refusal(trial: Callable[[], Any]) -> MusterError | None:
    """Do `trial`, take it back, and return why it was refused, if it was."""
    try:
        with transaction.atomic():
            trial()
            raise _Undo
    except MusterError as error:
        return error
    except _Undo:
        return None


@contextmanager
def errors_beside(form: forms.BaseForm) -> Iterator[Callable[[MusterError | None], None]]:
    """Yields a function that writes a refusal into the form, each field's sentences beside it."""

    def write(error: MusterError | None) -> None:
        if error is None:
            return
        for name, sentences in (error.fields or {NON_FIELD_ERRORS: [error.message]}).items():
            for sentence in sentences:
                form.add_error(name if name in form.fields else None, sentence)

    yield write


class PlatformAdminsOnly:
    """Platform admins may all that the class allows; nobody else may anything. Django's own table of rights is not used."""

    is_read_only = False
    may_add, may_delete = True, False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_staff)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.is_read_only and self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.is_read_only and self.may_add and self.has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.is_read_only and self.may_delete and self.has_view_permission(request)


class ReadOnlyAdmin(PlatformAdminsOnly, ModelAdmin):
    """Rows that others write."""

    is_read_only = True


class ReadOnlyInline(PlatformAdminsOnly, TabularInline):
    """Rows that others write, below the one they belong to."""

    is_read_only = True
    extra = 0


class ActionAdmin(PlatformAdminsOnly, ModelAdmin):
    """Rows written by an action: `store` calls it, `remove` deletes by one."""

    actions = None  # the list's bulk deletion would go past `remove`
    left_to_action: frozenset[str] = frozenset()
    """Columns that the form does not check: the action first moves out of the way what they would collide with."""

    def store(self, actor: Any, row: Any, form: Any) -> None:
        """Call the action that stores `row`; `form` has what is not a column."""
        raise NotImplementedError

    def remove(self, actor: Any, row: Any) -> None:
        """Call the action that deletes `row`; needed where `may_delete`."""
        raise NotImplementedError

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The form, which tries the action before it calls itself valid."""
        admin, base = self, super().get_form(request, obj, change=change, **options)

        class Trying(base):  # type: ignore[misc, valid-type]
            def _get_validation_exclusions(self) -> set[str]:
                return super()._get_validation_exclusions() | admin.left_to_action

            def _post_clean(self) -> None:
                super()._post_clean()
                if not self.errors:
                    row = copy.deepcopy(self.instance)
                    with errors_beside(self) as write:
                        write(refusal(lambda: admin.store(request.user, row, self)))

        return Trying

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """For good."""
        self.store(request.user, obj, form)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Refusals are shown by `get_deleted_objects` before the button is."""
        self.remove(request.user, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """An action that would refuse keeps the button away, and says why."""
        deleted, counts, _needed, protected = super().get_deleted_objects(objs, request)
        refusals = [refusal(partial(self.remove, request.user, copy.deepcopy(row))) for row in objs]
        return deleted, counts, set(), [*protected, *(error.message for error in refusals if error)]

    # What was done stands in the audit, with more than Django's own log would hold.
    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        return None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        return None
