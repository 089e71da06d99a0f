"""Errors of people and tokens."""

from muster.common.errors import Forbidden, Invalid


class LastAdmin(Invalid):
    """A tenant keeps at least one admin."""

    code = "last_admin"


class NotTheirAdmin(Forbidden):
    """Only an admin of the tenant may change its members."""
