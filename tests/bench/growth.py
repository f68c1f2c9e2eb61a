"""Growth: how large rows are, and what the queries that look at all of them take as they multiply.

The numbers of docs/scaling.md. Rows are made by the database itself, as a long life would leave
them: each repository with branches, catalogs of 50 rollouts, syncs and deliveries.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.db import connection, transaction

from rollouts_app.metrics.collecting import as_text
from rollouts_app.models import Repository
from rollouts_app.sync import reconcile, tasks

TABLES = {
    "sync run": "syncrun",
    "delivery": "webhookdelivery",
    "branch": "branch",
    "catalog of 50 rollouts": "catalog",
    "rollout version, README of 2 KB": "rolloutversion",
}

REPOSITORIES = """
    WITH spaces AS (
        INSERT INTO rollouts_app_workspace
            (slug, created_at, timezone, is_open_to_readers, needs_read_access)
        SELECT 'w' || n, now(), 'UTC', false, false
        FROM generate_series(%(first)s::int, %(last)s::int) AS n RETURNING id
    )
    INSERT INTO rollouts_app_repository
        (workspace_id, installation_id, github_id, full_name, default_branch, is_private,
         is_archived, connected_at, full_check_by_hand, heads_digest, trouble, trouble_reason,
         heads_checked_at)
    SELECT id, (SELECT min(id) FROM rollouts_app_installation), id, 'acme/repository-' || id,
        'main', true, false, now(), false, repeat('a', 64), '', '', now()
    FROM spaces
"""
INSTALLATION = """
    INSERT INTO rollouts_app_installation
        (github_id, account_id, account_login, account_type, permissions)
    VALUES (1, 1, 'acme', 'Organization', '{}')
"""
ROWS = (
    """
    INSERT INTO rollouts_app_rollout (repository_id, name, first_seen_at)
    SELECT id, 'rollout', now() FROM rollouts_app_repository LIMIT %(number)s
    """,
    """
    INSERT INTO rollouts_app_rolloutversion
        (rollout_id, tree_id, description, readme, metadata, problems, problem_count)
    SELECT id, md5(id::text) || '00000000', 'What it does, in a line',
        (SELECT string_agg(md5(id::text || n), ' ') FROM generate_series(1, 62) AS n),
        '{"name": "rollout", "version": "1.0"}', '[]', 0
    FROM rollouts_app_rollout
    """,
    """
    INSERT INTO rollouts_app_catalog
        (repository_id, rollouts_tree, configs_tree, versions, configs, problems, problem_count,
         created_at)
    SELECT id, md5(id::text) || '00000000', md5(id::text) || '11111111',
        (SELECT array_agg(id * 50 + n) FROM generate_series(1, 50) AS n), '{}', '[]', 0, now()
    FROM rollouts_app_repository LIMIT %(number)s
    """,
    """
    INSERT INTO rollouts_app_branch
        (repository_id, name, commit, catalog_id, changed_at, withheld)
    SELECT repository_id, 'feature/branch-' || id, md5(id::text) || '00000000', id, now(), ''
    FROM rollouts_app_catalog
    """,
    """
    INSERT INTO rollouts_app_syncrun
        (repository_id, branch_id, commit, state, trigger, reason, pusher, author, subject,
         replaced_commit, is_new_branch, catalog_before_id, catalog_after_id, requested_at,
         started_at, looked_at, fetched_at, finished_at, attempts)
    SELECT repository_id, id, commit, 'success', 'push', '', 'ada', 'Ada Lovelace',
        'Reward shorter answers', '', false, catalog_id, catalog_id, moment, moment, moment,
        moment, moment, 1
    FROM rollouts_app_branch,
        LATERAL (SELECT now() - id * interval '90 days' / %(number)s AS moment) AS times
    """,
    """
    INSERT INTO rollouts_app_webhookdelivery
        (delivery_id, event, action, repository_id, outcome, run_id, took, received_at,
         is_received)
    SELECT gen_random_uuid(), 'push', '', repository_id, 'Sync of branch asked for.', id,
        '12 ms', requested_at, true
    FROM rollouts_app_syncrun
    """,
)


def describe(parser: ArgumentParser) -> None:
    """The options."""
    parser.description = __doc__
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[100, 10_000, 1_000_000], help="of repositories"
    )
    parser.add_argument("--rows", type=int, default=100_000, help="of each table that is weighed")


def run(options: Namespace) -> int:
    """Print both tables."""
    call_command("migrate", verbosity=0)
    _execute(INSTALLATION)
    made = 0
    say("| Repositories | which are due (none) | ... (all) | /metrics | a ring | next job |")
    say("|---|---|---|---|---|---|")
    for size in sorted(options.sizes):
        _execute(REPOSITORIES, first=made + 1, last=size)
        made = size
        say(f"| {size:,} | {' | '.join(_times(size))} |")
    _weigh(min(options.rows, made))
    return 0


def _times(size: int) -> list[str]:
    """How long each of the queries takes that look at all repositories or all jobs."""
    _execute("VACUUM ANALYZE")
    none = took(reconcile.repositories_due)
    one = Repository.objects.order_by("pk").first()
    assert one is not None
    metrics = took(as_text)
    with transaction.atomic():
        Repository.objects.update(heads_checked_at=None)
        everyone = took(reconcile.repositories_due)
        transaction.set_rollback(True)
    ring = took(lambda: tasks.ring(one.pk))
    _execute(JOBS, number=size)
    _execute("ANALYZE procrastinate_jobs")
    _execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
    job = took(lambda: _execute(NEXT_JOB))
    _execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")
    return [f"{seconds * 1000:.1f} ms" for seconds in (none, everyone, metrics, ring, job)]


JOBS = """
    INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)
    SELECT 'default', 'sync_repository', 'lock-' || n, 'lock-' || n,
        jsonb_build_object('repository_id', n)
    FROM generate_series(1, %(number)s) AS n
"""
NEXT_JOB = "SELECT procrastinate_fetch_job_v2(NULL, max(id)) FROM procrastinate_workers"


def _weigh(number: int) -> None:
    for rows in ROWS:
        _execute(rows, number=number)
    say("")
    say(f"| Row | with its indexes, on average of {number:,} |")
    say("|---|---|")
    for name, table in TABLES.items():
        size = "SELECT pg_total_relation_size(%(table)s) / (SELECT count(*) FROM {}) AS bytes"
        [(weight,)] = _execute(size.format(f"rollouts_app_{table}"), table=f"rollouts_app_{table}")
        say(f"| {name} | {weight:,} bytes |")


def took(work: Callable[[], Any]) -> float:
    """The least of three, in seconds: what the work takes when nothing disturbs it."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def _execute(query: str, **values: str | int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values or None)
        return list(cursor.fetchall()) if cursor.description else []


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
