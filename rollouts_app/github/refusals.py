"""GitHub's refusals by REST → our four errors. Pure: `now` is passed in."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from rollouts_app.errors import Cause, Denied, GitHubError, Gone, RateLimited, Unavailable, cause_in

# What to wait when a limit comes without a time.
# https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
PATIENCE = timedelta(seconds=60)
LONGEST_WAIT = timedelta(hours=2)
LONGEST_MESSAGE = 300  # characters
LIMIT_WORDS = ("rate limit", "abuse detection", "too many requests")
CLOCK_TOLERANCE = timedelta(seconds=30)


def refusal(
    asked: str, status: int, headers: Mapping[str, str], body: bytes, now: datetime
) -> GitHubError:
    """The error that an answer other than 2xx means.

    `asked` names the request ("GET /app"), the keys of `headers` are found in any case, `now` is
    in UTC. The message holds GitHub's own words, never a header or an address with a secret.
    """
    message = _message(body)
    said = f"GitHub answered {status} to {asked}" + (f": {message}." if message else ".")
    if _is_limit(status, headers, message):
        retry_at = _retry_at(headers, now)
        return RateLimited(
            f"GitHub limits our requests; they go on at {retry_at:%H:%M:%S} UTC. {said}", retry_at
        )
    if status in (404, 410):
        return Gone(f"{said} It was deleted, or our access to it was taken away.")
    if status == 401:
        return Denied(
            f"{said} The credentials are wrong, expired or revoked.{_skew(headers, now)}",
            Cause.CREDENTIALS,
        )
    if status in (403, 422, 451):
        return Denied(said, cause_in(message))
    return Unavailable(f"{said} Trying again later may help.")


def _message(body: bytes) -> str:
    """The "message" of GitHub's error body as one short line; empty when there is none."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    message = answer.get("message") if isinstance(answer, dict) else None
    if not isinstance(message, str):
        return ""
    return " ".join(message.split())[:LONGEST_MESSAGE].rstrip(".")


def _is_limit(status: int, headers: Mapping[str, str], message: str) -> bool:
    if status == 429:
        return True
    if status != 403:
        return False
    limited = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    return limited or any(words in message.lower() for words in LIMIT_WORDS)


def _retry_at(headers: Mapping[str, str], now: datetime) -> datetime:
    """`retry-after` first; the reset time only when the budget is used up; else a minute."""
    wanted = _retry_after(headers.get("retry-after"), now)
    if wanted is None and headers.get("x-ratelimit-remaining") == "0":
        wanted = _reset(headers.get("x-ratelimit-reset"))
    if wanted is None:
        return now + PATIENCE
    return min(max(wanted, now + timedelta(seconds=1)), now + LONGEST_WAIT)


def _retry_after(value: str | None, now: datetime) -> datetime | None:
    """Seconds from now, or a date as HTTP writes it."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return now + timedelta(seconds=min(int(value), LONGEST_WAIT.total_seconds()))
    return http_date(value)


def _reset(value: str | None) -> datetime | None:
    """Seconds since 1970."""
    try:
        return datetime.fromtimestamp(int(value or ""), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def http_date(value: str) -> datetime | None:
    """A date as HTTP's headers write it, in UTC; None when it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _skew(headers: Mapping[str, str], now: datetime) -> str:
    """The App's tokens are only valid where the clocks agree, so a wrong clock is named."""
    at_github = http_date(headers.get("date", ""))
    if at_github is None or abs(now - at_github) <= CLOCK_TOLERANCE:
        return ""
    seconds = round((now - at_github).total_seconds())
    side = "fast" if seconds > 0 else "slow"
    return f" This server's clock is {abs(seconds)} s {side}: set it by NTP."
