"""Who looks after this server: named, taken off, let in when GitHub's sign-in is down."""

import secrets
from hashlib import sha256

from django.core.cache import cache
from django.db import transaction

from rollouts_app import audit
from rollouts_app.models import AuditEvent, ServerSettings, User
from rollouts_app.refusals import NotPossible

LINK_SECONDS = 900
Deed = AuditEvent.Deed


def add(actor: User | None, login: str) -> User:
    """Make somebody who has signed in before an administrator. Twice is once.

    `actor` is None on the server's terminal. Raises `NotPossible`.
    """
    with transaction.atomic():
        ServerSettings.locked()
        user = _named(login)
        if not user.is_administrator:
            user.is_administrator = True
            user.save(update_fields=["is_administrator"])
            audit.record(actor, Deed.CHANGED_SERVER, f"{login} is an administrator")
    return user


def remove(actor: User | None, login: str) -> User:
    """Take the administrator's rights off somebody, but never off the last one.

    Raises `NotPossible`.
    """
    with transaction.atomic():
        ServerSettings.locked()
        user = _named(login)
        if not User.objects.administrators().exclude(pk=user.pk).exists():
            raise NotPossible(f"{login} is the only administrator. Make somebody else one first.")
        if user.is_administrator:
            user.is_administrator = False
            user.save(update_fields=["is_administrator"])
            audit.record(actor, Deed.CHANGED_SERVER, f"{login} is no administrator any more")
    return user


def make_login_link(login: str) -> str:
    """The token of a link that lets an administrator in once, within LINK_SECONDS.

    Raises `NotPossible`.
    """
    user = _named(login)
    if not user.is_administrator:
        raise NotPossible(f"{login} is no administrator: only they are let in by a link.")
    token = secrets.token_urlsafe(32)
    cache.set(_name_of(token), user.pk, timeout=LINK_SECONDS)
    return token


def is_good_link(token: str) -> bool:
    """Whether the link can still be used. Looking does not use it up."""
    return _owner(token) is not None


def use_login_link(token: str) -> User | None:
    """The administrator whom the link lets in; None when it is used, expired or nobody's."""
    user = _owner(token)
    # Of two at once, the one that deletes is the first.
    return user if user and cache.delete(_name_of(token)) else None


def _owner(token: str) -> User | None:
    return User.objects.administrators().filter(pk=cache.get(_name_of(token))).first()


def _named(login: str) -> User:
    user = User.objects.filter(github_login__iexact=login).order_by("-last_login").first()
    if user is None:
        raise NotPossible(f"Nobody called {login} has signed in here yet.")
    return user


def _name_of(token: str) -> str:
    return f"login-link-{sha256(token.encode(errors='replace')).hexdigest()}"
