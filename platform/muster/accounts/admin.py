"""Users. (Tenants are made with their top queue, so their page is in quotas.)"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from muster.accounts.actions import save_user
from muster.accounts.models import User
from muster.common.admin import ActionAdmin

admin.site.unregister(Group)  # rights come from tenants' roles and `is_staff`


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ActionAdmin):  # type: ignore[misc]
    """People and programs that sign in."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_staff", "is_active", "last_login")
    list_filter = ("is_staff", "is_active")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Rights", {"fields": ("is_active", "is_staff")}),
    )

    def store(self, actor: Any, row: User, form: Any) -> None:
        save_user(actor, row)
