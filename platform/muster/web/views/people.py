"""Signing in and out."""

from django.contrib.auth.views import LoginView, LogoutView


class SignIn(LoginView):
    """By name and password."""

    template_name = "web/sign_in.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """POST only; leads back to signing in."""

    next_page = "web:sign-in"
