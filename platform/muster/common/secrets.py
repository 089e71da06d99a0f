"""Sealing what must not be readable in a database dump."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from muster.common.errors import Unavailable


def _box() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"seal:{settings.SECRET_KEY}".encode()).digest()))


def seal(text: str) -> bytes:
    """Encrypt and sign `text` under the platform's key."""
    return _box().encrypt(text.encode())


def unseal(sealed: bytes) -> str:
    """The text sealed; Unavailable when the platform's key is not the one it was sealed with."""
    try:
        return _box().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unavailable("A stored secret cannot be read: the platform's secret key has changed.") from None
