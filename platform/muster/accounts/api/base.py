"""What every view above accounts needs: who asks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from muster.accounts.standing import Standing, standing_of
from muster.common.api.views import RowsView


class StandingMixin:
    """A view that knows the reader's rights; they are read once per request."""

    @cached_property
    def standing(self) -> Standing:
        """The reader's rights. (Nobody reads when the OpenAPI description is made.)"""
        request = getattr(self, "request", None)
        return standing_of(request.user) if request else Standing(None)

    def get_serializer_context(self) -> dict[str, Any]:
        """For `capabilities`."""
        return {**super().get_serializer_context(), "standing": self.standing}  # type: ignore[misc]


class MemberView(StandingMixin, RowsView):
    """Rows filtered by the reader's standing."""
