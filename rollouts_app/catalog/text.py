"""Text of others, made fit to be stored and shown."""

import datetime
import math
import re
from typing import Any

from rollouts_app.catalog.limits import DEEPEST, LARGEST_INT, SMALLEST_INT

# PostgreSQL stores neither of them.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# Control characters, but for tab and line feed; and those that turn the direction of writing.
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
REPLACEMENT = "\ufffd"
ELLIPSIS = "…"


def storable(text: str) -> str:
    """The text with what PostgreSQL refuses made visible; all else is left alone.

    A byte that was not UTF-8, which Python holds as a surrogate escape, becomes `\\xNN`.
    """
    return UNSTORABLE.sub(_visible, text)


def printable(text: str) -> str:
    """The text on one line, without characters that are invisible or move others about."""
    return " ".join(INVISIBLE.sub(REPLACEMENT, " ".join(storable(text).split())).split())


def shortened(text: str, length: int) -> str:
    """The text cut after a word, to `length` characters with the ellipsis that tells of it."""
    if len(text) <= length:
        return text
    words, space, _rest = text[:length].rpartition(" ")
    return (words.rstrip(" ,;:-") if space else text[: length - 1]) + ELLIPSIS


def prose(text: str, length: int) -> str:
    """A longer text with its lines: at most `length` characters, control characters replaced."""
    lines = text[:length].replace("\r\n", "\n").replace("\r", "\n")
    return INVISIBLE.sub(REPLACEMENT, storable(lines))


def json_safe(value: Any, depth: int = DEEPEST) -> Any:
    """What TOML may hold as what JSON, and PostgreSQL's JSON, can hold.

    Dates and times become ISO strings; numbers JSON has not, and what lies too deep, strings.
    """
    if isinstance(value, dict):
        if not depth:
            return ELLIPSIS
        return {storable(str(key)): json_safe(member, depth - 1) for key, member in value.items()}
    if isinstance(value, list):
        return [json_safe(member, depth - 1) for member in value] if depth else ELLIPSIS
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if SMALLEST_INT <= value <= LARGEST_INT else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return storable(str(value))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else REPLACEMENT
