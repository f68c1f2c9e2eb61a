"""What the database tells of the work: counted when asked, so it needs no keeping."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

# So long is a worker without a heartbeat taken for alive; it has one every two seconds.
ALIVE_SECONDS = 15

OPEN_SYNCS = """
    SELECT state, count(*) FROM rollouts_app_syncrun
    WHERE state IN ('pending', 'syncing') GROUP BY state
"""
ENDED_SYNCS = """
    SELECT state, count(*) FROM rollouts_app_syncrun
    WHERE finished_at > now() - interval '1 hour' GROUP BY state
"""
# From the worker's start, and from the request, which is what somebody who pushed waits for.
DURATIONS = """
    SELECT part, quantile, percentile_cont(quantile) WITHIN GROUP (ORDER BY seconds)
    FROM (
        SELECT part, extract(epoch FROM finished_at - begun) AS seconds
        FROM rollouts_app_syncrun
        CROSS JOIN LATERAL
            (VALUES ('work', started_at), ('all', requested_at)) AS times (part, begun)
        WHERE finished_at > now() - interval '1 hour' AND state IN ('success', 'issues')
            AND begun IS NOT NULL
    ) AS ended
    CROSS JOIN unnest(ARRAY[0.5, 0.95, 0.99, 1]) AS quantile
    GROUP BY part, quantile
"""
JOBS = """
    SELECT
        CASE WHEN status = 'doing' THEN 'doing'
             WHEN scheduled_at > now() THEN 'later' ELSE 'waiting' END AS kind,
        count(*)
    FROM procrastinate_jobs WHERE status IN ('todo', 'doing') GROUP BY kind
"""
# A job waits from its time on, and one without a time from when it was put in the queue.
OLDEST_JOB = """
    SELECT extract(epoch FROM now() - min(coalesce(scheduled_at, deferred.at)))
    FROM procrastinate_jobs AS job
    LEFT JOIN procrastinate_events AS deferred ON job_id = job.id AND type = 'deferred'
    WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())
"""
WORKERS = """
    SELECT count(*) FROM procrastinate_workers
    WHERE last_heartbeat > now() - make_interval(secs => %s)
"""
DELIVERIES = """
    SELECT
        CASE WHEN NOT is_received THEN 'lost' WHEN run_id IS NOT NULL THEN 'sync asked for'
             WHEN repository_id IS NULL AND installation_id IS NULL THEN 'not ours'
             ELSE 'taken note of' END,
        count(*)
    FROM rollouts_app_webhookdelivery
    WHERE received_at > now() - interval '1 hour' GROUP BY 1
"""
REPOSITORIES = """
    SELECT CASE WHEN trouble = '' THEN 'none' ELSE trouble END AS kind, count(*)
    FROM rollouts_app_repository WHERE disconnected_at IS NULL GROUP BY kind
"""


@dataclass(frozen=True)
class Fact:
    """One number, with the labels it goes by."""

    name: str
    labels: tuple[str, ...]
    value: float


def facts() -> Iterator[Fact]:
    """All of them. Nothing in them is a name that somebody gave."""
    for name, query in (
        ("syncs_open", OPEN_SYNCS),
        ("syncs_last_hour", ENDED_SYNCS),
        ("sync_seconds_last_hour", DURATIONS),
        ("jobs", JOBS),
        ("deliveries_last_hour", DELIVERIES),
        ("repositories", REPOSITORIES),
    ):
        for *labels, value in _rows(query):
            yield Fact(name, tuple(str(label) for label in labels), float(value))
    yield Fact("oldest_job_seconds", (), float(_rows(OLDEST_JOB)[0][0] or 0))
    yield Fact("workers", (), float(living_workers()))
    yield Fact("database_bytes", (), float(_rows(DATABASE)[0][0]))


DATABASE = "SELECT pg_database_size(current_database())"


def living_workers() -> int:
    """How many workers showed a sign of life a moment ago."""
    return int(_rows(WORKERS, [ALIVE_SECONDS])[0][0])


def _rows(query: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())
