"""The token of the first run: who holds it sets the server up and is its first administrator.

It is printed when the server starts, and only its hash is kept. Each start makes a new one, so
that the last one printed is the one that counts.
"""

import hmac
import secrets
from hashlib import sha256

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction

from rollouts_app import audit, github_app
from rollouts_app.models import AuditEvent, ServerSettings, User

# Where a browser's session keeps the hash of the token it has shown.
SHOWN = "setup_token_hash"


def is_needed() -> bool:
    """Whether the first run is not over: no App is known, or nobody looks after the server."""
    return github_app.known() is None or not _has_administrator()


def make() -> str:
    """A new token, in place of any earlier one."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        server = ServerSettings.locked()
        server.setup_token_hash = _hash(token)
        server.save(update_fields=["setup_token_hash"])
    return token


def show(session: SessionBase, token: str) -> bool:
    """Let a browser in that shows the token. Whether it was the right one."""
    if not _is_current(_hash(token)):
        return False
    session[SHOWN] = _hash(token)
    return True


def is_held(session: SessionBase) -> bool:
    """Whether this browser has shown the token that counts now."""
    return _is_current(session.get(SHOWN, ""))


@transaction.atomic
def claim(shown: str, user: User) -> bool:
    """Make the token's holder the first administrator; the token is used up. `shown` is what the
    session kept of it. Nothing happens with another token, or when there is an administrator.
    """
    server = ServerSettings.locked()
    if not _is_same(shown, server.setup_token_hash) or _has_administrator():
        return False
    user.is_administrator = True
    user.save(update_fields=["is_administrator"])
    server.setup_token_hash = ""
    server.save(update_fields=["setup_token_hash"])
    audit.record(user, AuditEvent.Deed.CHANGED_SERVER, f"{user.github_login} is an administrator")
    return True


def _has_administrator() -> bool:
    return User.objects.administrators().exists()


def _is_current(shown: str) -> bool:
    return bool(shown) and _is_same(shown, ServerSettings.current().setup_token_hash)


def _is_same(shown: str, kept: str) -> bool:
    return bool(kept) and hmac.compare_digest(shown, kept)


def _hash(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()
