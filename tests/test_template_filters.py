"""The template filters: commits, times and names."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from rollouts_app.templatetags.rollouts import ago, exact, short_sha, span, visible

NOON = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)


def test_it_shortens_a_commit_to_seven_characters() -> None:
    assert short_sha("a1b2c3d4e5f60718293a4b5c6d7e8f9012345678") == "a1b2c3d"


def test_it_shortens_no_commit_to_nothing() -> None:
    assert short_sha("") == ""


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(), "just now"),
        (timedelta(seconds=4.9), "just now"),
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(seconds=59.9), "59 s ago"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(hours=24), "yesterday"),
        (timedelta(hours=35, minutes=59), "yesterday"),
        (timedelta(hours=36, minutes=1), "2 days ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=14), "6 Aug 2026"),
        (timedelta(days=400), "16 Jul 2025"),
        (timedelta(seconds=-0.9), "just now"),
        (timedelta(seconds=-3), "in a moment"),
        (timedelta(seconds=-90), "in 1 min"),
        (timedelta(hours=-2), "in 2 h"),
        (timedelta(days=-3), "23 Aug 2026"),
    ],
)
def test_it_says_how_long_ago_a_time_was(past: timedelta, words: str) -> None:
    with timezone.override("UTC"):
        assert ago(NOON - past, NOON) == words


def test_it_counts_days_in_the_current_time_zone() -> None:
    when, now = datetime(2026, 8, 18, 13, tzinfo=UTC), datetime(2026, 8, 19, 23, tzinfo=UTC)
    with timezone.override("UTC"):
        assert ago(when, now) == "yesterday"
    with timezone.override("Asia/Tokyo"):
        assert ago(when, now) == "2 days ago"


def test_it_does_not_call_today_yesterday_when_the_clocks_went_back() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    when = datetime(2026, 10, 25, 0, 5, tzinfo=berlin).astimezone(UTC)
    with timezone.override("Europe/Berlin"):
        assert ago(when, when + timedelta(hours=24, minutes=20)) == "24 h ago"


def test_it_says_never_when_there_is_no_time() -> None:
    assert [ago(None), exact(None)] == ["never", "never"]


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-08-20 12:00:00 UTC"),
        ("America/New_York", "2026-08-20 08:00:00 UTC-04:00"),
        ("Asia/Kolkata", "2026-08-20 17:30:00 UTC+05:30"),
    ],
)
def test_it_gives_the_exact_time_with_its_offset(zone: str, text: str) -> None:
    """U11"""
    assert exact(NOON, zone) == text


def test_it_gives_the_exact_time_in_the_current_zone_when_none_is_named() -> None:
    with timezone.override("Asia/Tokyo"):
        assert exact(NOON) == "2026-08-20 21:00:00 UTC+09:00"


def test_it_tells_the_two_hours_apart_that_share_a_clock_time() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    shown = [exact(first, "Europe/Berlin"), exact(first + timedelta(hours=1), "Europe/Berlin")]
    assert shown == ["2026-10-25 02:30:00 UTC+02:00", "2026-10-25 02:30:00 UTC+01:00"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("feature/reward #1", "feature/reward #1"),
        ("größe/日本語/🚀", "größe/日本語/🚀"),
        ("main\u202etxt", "main\\u202etxt"),
        ("ma\u200bin", "ma\\u200bin"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("a\xa0b\u2028c\u3000d", "a\\xa0b\\u2028c\\u3000d"),
        ("\u3164", "\\u3164"),
        ("\ufeffmain", "\\ufeffmain"),
        ("bad\udcffbyte", "bad\\udcffbyte"),
        ("x\U000e0041", "x\\U000e0041"),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_it_makes_hidden_characters_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.0404, "40 ms"),
        (0.999, "999 ms"),
        (0.9996, "1.0 s"),
        (1.24, "1.2 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3600, "1 h 0 min"),
        (3780, "1 h 3 min"),
    ],
)
def test_it_says_how_long_something_took(seconds: float, words: str) -> None:
    assert span(timedelta(seconds=seconds)) == words
