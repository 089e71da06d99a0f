"""Users, tenants, memberships and tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from knox.models import AbstractAuthToken

from muster.accounts.choices import Role, Scope
from muster.common.models import BaseModel

dns_label = RegexValidator(
    r"^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$", "Use lower-case letters, digits and dashes, at most 42."
)


class User(AbstractUser):  # type: ignore[django-manager-missing]  # knox names its relation at run time
    """A person or program that signs in. Without a membership it sees nothing; `is_staff` makes a platform admin."""


class Tenant(BaseModel):  # type: ignore[django-manager-missing]  # tree_queries has no types
    """Who pays and is isolated: a namespace in every cluster, and one top queue."""

    name = models.CharField(max_length=42, unique=True, validators=[dns_label])
    title = models.CharField(max_length=120, blank=True)
    namespace = models.CharField(max_length=63, unique=True, validators=[dns_label])
    members: models.ManyToManyField = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="tenants"
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name


class Membership(BaseModel):
    """A user's role in a tenant."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "tenant"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.tenant}: {self.role}"


class ApiToken(AbstractAuthToken):
    """A token for scripts: shown once, stored hashed (knox), with a scope and, if wanted, the networks it may come from."""

    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.WRITE)
    networks = ArrayField(
        models.CharField(max_length=43), default=list, blank=True, help_text="CIDR; empty: from anywhere"
    )
    last_used = models.DateTimeField(null=True, blank=True)
