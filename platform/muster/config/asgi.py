"""The web process: HTTP to Django, websockets to `realtime`."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")

# Loads the apps; what follows imports models.
http = get_asgi_application()

from muster.realtime.routing import websocket  # noqa: E402

application = ProtocolTypeRouter({"http": http, "websocket": websocket})
