"""The log: one line an event, as text for people or as JSON for programs, without secrets."""

import json
import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rollouts_app import tracing

FORMATS = ("text", "json")

# Tokens by how they look: GitHub's own, signed ones (JWT), and those in headers and addresses.
# https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
SECRETS = re.compile(
    r"\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"
    r"|(?<=/invitations/)[\w-]{16,}|(?<=/login/)[\w-]{16,}"
    r"|(?<=://)[^/@\s:]*:[^/@\s]+(?=@)"
    r"|(?i:(?<=bearer )|(?<=basic )|(?<=token ))[\w.~+/=-]{16,}"
)
HIDDEN = "[hidden]"
ONE_LINE = {number: f"\\x{number:02x}" for number in [*range(32), 127, *range(128, 160)]}
# A shorter one would hide what is no secret: the default password of a test is a word.
SHORTEST_SECRET = 8


class Discreet(logging.Formatter):
    """Hides secrets wherever they stand in a line: in messages, ids and tracebacks."""

    def __init__(self, *args: Any, secrets: Iterable[str] = (), **kwargs: Any) -> None:
        """`secrets` are this server's own."""
        super().__init__(*args, **kwargs)
        own = sorted(
            {part for secret in secrets for part in _forms(secret) if len(part) >= SHORTEST_SECRET},
            key=len,
            reverse=True,
        )
        self._own = re.compile("|".join(map(re.escape, own))) if own else None

    def format(self, record: logging.LogRecord) -> str:
        return self.hide(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        # On one line, whatever somebody called a branch.
        return (super().formatMessage(record) + _tail(tracing.ids())).translate(ONE_LINE)

    def hide(self, text: str) -> str:
        """The text without secrets."""
        if self._own:
            text = self._own.sub(HIDDEN, text)
        return SECRETS.sub(HIDDEN, text)


class JsonLines(Discreet):
    """One JSON object a line: time, level, logger, message, the ids, and the trace of an error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.hide(record.getMessage()),
            **tracing.ids(),
        }
        if record.exc_info:
            line["error"] = self.hide(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


def logging_settings(format: str, secrets: list[str]) -> dict[str, Any]:
    """Django's LOGGING, for one of `FORMATS`."""
    formatter = {
        "text": {
            "()": Discreet,
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            "secrets": secrets,
        },
        "json": {"()": JsonLines, "secrets": secrets},
    }[format]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            # Each job twice a line: our own rows say the same.
            "procrastinate": {"level": "WARNING"},
            # Of each refused request we write a line ourselves; of its own are those of errors.
            "django.request": {"level": "ERROR"},
        },
    }


def _forms(secret: str) -> Iterable[str]:
    """A secret as it is, and the lines of one that has several, like a private key."""
    return [secret, *(line for line in secret.splitlines() if not line.startswith("-----"))]


def _tail(ids: Any) -> str:
    """The ids at the end of a line of text."""
    return "".join(f" {name}={value}" for name, value in ids.items())
