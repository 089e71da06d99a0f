"""Where the websocket lives, and who may open it: signed-in people on pages of our own hosts."""

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from muster.realtime.consumers import LiveConsumer

websocket = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter([path("ws/live", LiveConsumer.as_asgi())])))
