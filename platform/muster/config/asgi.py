"""The web process: HTTP to Django, websockets to `realtime`."""

import os
import warnings
from typing import Any

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")

# whitenoise gives files as plain iterators, which Django then reads in one go: they are small, and the browser keeps them.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

# Loads the apps; what follows imports models.
http = get_asgi_application()

from muster.realtime.routing import websocket  # noqa: E402


async def websocket_below_prefix(scope: Any, receive: Any, send: Any) -> None:
    """Django takes MUSTER_PATH_PREFIX off by itself; Channels wants to find it in the scope."""
    prefix = settings.MUSTER.path_prefix
    if prefix and scope["path"].startswith(f"{prefix}/"):
        scope = scope | {"root_path": prefix}
    await websocket(scope, receive, send)


application = ProtocolTypeRouter({"http": http, "websocket": websocket_below_prefix})
