"""Roles and scopes."""

from django.db.models import TextChoices


class Role(TextChoices):
    """What a member may do in a tenant. A platform admin is `User.is_staff`."""

    ADMIN = "admin", "Tenant admin"
    MEMBER = "member", "Member"
    VIEWER = "viewer", "Viewer"


class Scope(TextChoices):
    """What a token may do on its owner's behalf."""

    READ = "read", "Read"
    WRITE = "write", "Read and write"
