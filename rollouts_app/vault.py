"""Secrets at rest: encrypted with the server's own keys, newest first, older ones still read."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.cache import cache


def encrypt(text: str) -> str:
    """The text, encrypted with the newest key."""
    return _keys().encrypt(text.encode()).decode()


def decrypt(text: str) -> str | None:
    """What `encrypt` was given, or None when none of the keys fits any more."""
    try:
        return _keys().decrypt(text.encode()).decode()
    except InvalidToken:
        return None


def renew(text: str) -> str | None:
    """The same secret, encrypted with the newest key; None when none of the keys fits."""
    try:
        return _keys().rotate(text.encode()).decode()
    except InvalidToken:
        return None


def keep(name: str, secret: str, seconds: float) -> None:
    """Keep a short-lived secret in the shared cache, encrypted."""
    cache.set(name, encrypt(secret), timeout=seconds)


def recall(name: str) -> str | None:
    """A secret kept earlier, or None when it has expired."""
    stored = cache.get(name)
    return decrypt(stored) if stored else None


def forget(name: str) -> None:
    """Drop a secret before it expires."""
    cache.delete(name)


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
