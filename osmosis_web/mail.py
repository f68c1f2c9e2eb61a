"""The server that takes our e-mail, as one address."""

from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# Scheme → the port it is spoken on when none is named.
PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """Where e-mail is handed in, as whom, and from whom it comes. Without a host there is none."""

    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    is_tls: bool = False
    starts_tls: bool = False
    sender: str = ""


def mail_server(url: str, public_url: str) -> MailServer:
    """Read `EMAIL_URL`: smtp://user:password@host:587, or smtps:// for TLS from the first byte.

    smtp:// goes over to TLS at once, unless ?tls=off says that the way there is safe. ?from= is
    the sender; otherwise it is osmosis-web at the host of `public_url`.
    """
    if not url:
        return MailServer()
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        query = parse_qs(parts.query)
    except (KeyError, ValueError):
        parts = urlsplit("")
    if not parts.hostname:
        # Without the value: it may hold a password.
        raise ImproperlyConfigured("EMAIL_URL must look like smtp://user:password@mail.example:587")
    return MailServer(
        host=parts.hostname,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls=parts.scheme == "smtps",
        starts_tls=parts.scheme == "smtp" and query.get("tls") != ["off"],
        sender=query.get("from", [f"osmosis-web@{urlsplit(public_url).hostname}"])[0],
    )
