"""Facts about this server → lines. Pure."""

import re
from datetime import timedelta

from rollouts_app.doctor.facts import Facts, Seen
from rollouts_app.doctor.lines import Line, bad, good, warning
from rollouts_app.errors import GitHubError

OLDEST_POSTGRES = 15
OLDEST_GIT = (2, 31)
SLOW_DATABASE = timedelta(milliseconds=200)
# Workers beat every two seconds, and are taken for dead after eight.
ALIVE = timedelta(seconds=15)
LONG_WAIT = timedelta(minutes=2)
LITTLE_ROOM = 1_000_000_000  # bytes


def public_url(facts: Facts) -> Line:
    name, seen = "PUBLIC_URL", facts.seen
    if seen is None:
        return good(name, f"{facts.public_url}. The page /doctor compares it with what comes in.")
    said = _said_by_proxy(seen)
    if said and said != facts.public_url:
        return bad(
            name,
            f"The proxy says that people call {said}, and PUBLIC_URL is {facts.public_url}.",
            "Correct one of them: links, sign-in and the webhook all use PUBLIC_URL.",
        )
    if seen.address != facts.public_url:
        return bad(
            name,
            f"This page came by {seen.address}, and PUBLIC_URL is {facts.public_url}.",
            "Have the proxy pass on Host and X-Forwarded-Proto, set TRUSTED_PROXY_COUNT to the"
            " number of proxies, and PUBLIC_URL to the address that people use.",
        )
    if seen.forwarded_for and not facts.trusted_proxies:
        return warning(
            name,
            "A proxy stands in front of this server, and none is trusted: all callers look alike.",
            "Set TRUSTED_PROXY_COUNT to the number of proxies.",
        )
    return good(name, f"{facts.public_url}, as this page was called.")


def _said_by_proxy(seen: Seen) -> str:
    """The address that the proxy names; empty where it does not name all of it."""
    if not (seen.forwarded_proto and seen.forwarded_host):
        return ""
    return f"{seen.forwarded_proto}://{seen.forwarded_host}"


def database(facts: Facts) -> Line:
    name, major = "Database", facts.database_version // 10_000
    took = f"{facts.database_took.total_seconds() * 1000:.1f} ms"
    if major < OLDEST_POSTGRES:
        return bad(name, f"PostgreSQL {major}.", f"Move to PostgreSQL {OLDEST_POSTGRES} or newer.")
    if facts.database_took > SLOW_DATABASE:
        return warning(
            name,
            f"PostgreSQL {major} takes {took} for the simplest question.",
            "Move it nearer to this server, or see what keeps it busy.",
        )
    return good(name, f"PostgreSQL {major} answers within {took}.")


def workers(facts: Facts) -> Line:
    name, queue = "Workers", facts.queue
    alive = [beat for beat in queue.heartbeats if facts.now - beat < ALIVE]
    if not alive:
        return bad(
            name,
            f"None is running, and {queue.waiting} jobs wait. Nothing is synced.",
            "Start script/worker, or script/server --with-worker.",
        )
    waits = facts.now - queue.oldest if queue.oldest else timedelta()
    if waits > LONG_WAIT:
        minutes = int(waits.total_seconds() // 60)
        return warning(
            name,
            f"{len(alive)} running; the oldest of {queue.waiting} jobs waits for {minutes} min.",
            "Start more workers, here or on other machines.",
        )
    return good(name, f"{len(alive)} running, {queue.waiting} jobs waiting.")


def git(facts: Facts) -> Line:
    name = "git"
    how = "Install git 2.31 or newer."
    if isinstance(facts.git, GitHubError):
        return bad(name, str(facts.git), how)
    version = tuple(int(number) for number in re.findall(r"\d+", facts.git)[:2])
    if version < OLDEST_GIT:
        return bad(name, f"{facts.git} is too old.", how)
    return good(name, f"{facts.git}.")


def disk(facts: Facts) -> Line:
    name = "Git caches"
    if isinstance(facts.disk, GitHubError):
        return bad(name, str(facts.disk), "See that DATA_DIR exists and belongs to this server.")
    taken = f"{_size(facts.disk.caches)} of at most {_size(facts.disk.limit)}"
    if facts.disk.free < LITTLE_ROOM:
        return bad(
            name,
            f"{taken}; only {_size(facts.disk.free)} of the disk is free.",
            "Free some of it, or lower GIT_CACHE_BYTES.",
        )
    return good(name, f"{taken}; {_size(facts.disk.free)} of the disk is free.")


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
