"""The web process: HTTP to Django, websockets to `realtime`."""

import os
from typing import Any

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application
from django.utils.module_loading import import_string

from muster.config.parts import exists

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")

protocols: dict[str, Any] = {"http": get_asgi_application()}

if exists("muster.realtime.routing"):
    protocols["websocket"] = import_string("muster.realtime.routing.websocket")

application = ProtocolTypeRouter(protocols)
