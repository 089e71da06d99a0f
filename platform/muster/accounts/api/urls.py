"""Addresses of people, tenants and tokens."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from muster.accounts.api import views

router = SimpleRouter()
router.register("tenants", views.TenantView, basename="tenant")
router.register("members", views.MemberOfTenantView, basename="member")
router.register("tokens", views.TokenView, basename="token")

urlpatterns = [
    *router.urls,
    path("me/", views.MeView.as_view(), name="me"),
    path("login/", views.LoginView.as_view(), name="api-login"),
]
