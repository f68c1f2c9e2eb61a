"""Filters for commits, times and names that come from a repository."""

import unicodedata
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django import template
from django.utils import timezone

from osmosis_web import __version__

register = template.Library()

# Letters and marks by category, yet nothing is drawn for them.
_BLANK = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u2800", "\u3164", "\uffa0"}


@register.simple_tag
def product_version() -> str:
    """The version of Osmosis Web, for the footer; needs no context, so error pages have it too."""
    return __version__


@register.filter
def short_sha(sha: str) -> str:
    """The first 7 characters of a commit id, as GitHub shows it."""
    return sha[:7]


@register.filter
def ago(when: datetime | None, now: datetime | None = None) -> str:
    """How long ago an aware time was: "40 s ago", "3 h ago", "yesterday", "12 Mar 2026".

    Days are those of Django's current time zone. A time to come reads "in 5 min"; none at all
    reads "never".
    """
    if when is None:
        return "never"
    now = now or timezone.now()
    past = now - when
    if abs(past) < timedelta(seconds=5):
        # Clocks of two machines may differ by a little.
        return "in a moment" if past < timedelta(seconds=-1) else "just now"
    days = (timezone.localtime(now).date() - timezone.localtime(when).date()).days
    # Where clocks go back a day has 25 hours, and 24 hours ago is still today.
    if abs(past) < timedelta(hours=24) or days == 0:
        amount = _amount(abs(past))
        return f"{amount} ago" if past > timedelta() else f"in {amount}"
    if days == 1:
        return "yesterday"
    if 1 < days < 14:
        return f"{days} days ago"
    day = timezone.localtime(when)
    return f"{day.day} {day:%b %Y}"


def _amount(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h"


@register.filter
def span(length: timedelta) -> str:
    """How long something took: "340 ms", "1.2 s", "48 s", "2 min 5 s", "1 h 3 min"."""
    seconds = length.total_seconds()
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@register.filter
def exact(when: datetime | None, zone: str = "") -> str:
    """An aware time to the second with its zone's offset: "2026-03-29 03:30:00 UTC+02:00".

    `zone` is a name of the IANA database; without one Django's current time zone is used.
    """
    if when is None:
        return "never"
    there = timezone.localtime(when, ZoneInfo(zone) if zone else None)
    offset = f"{there:%z}"
    name = "UTC" if offset == "+0000" else f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{there:%Y-%m-%d %H:%M:%S} {name}"


@register.filter
def clock(when: datetime, now: datetime | None = None) -> str:
    """When an aware time was, for a sentence: "09:12 UTC", on another day "12 Mar, 09:12 UTC".

    Days and hours are those of Django's current time zone.
    """
    there = timezone.localtime(when)
    day = "" if there.date() == timezone.localtime(now).date() else f"{there.day} {there:%b}, "
    return f"{day}{there:%H:%M %Z}"


@register.filter
def visible(text: str) -> str:
    r"""The text with everything that shows nothing, or bends what follows it, written as an escape.

    Names and messages are other people's: a right-to-left override or a zero-width space in a
    branch name would make it look like another. Such characters come out as "\u202e"; text in any
    script, accents and emoji stay as they are.
    """
    return "".join(_escape(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return (
        category.startswith("C")
        or category in {"Zl", "Zp"}
        or (category == "Zs" and character != " ")
        or character in _BLANK
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
