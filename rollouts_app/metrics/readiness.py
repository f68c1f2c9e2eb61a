"""Whether this machine can do its work: what a load balancer and a watchman ask."""

from functools import cache

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg_pool import PoolTimeout

from rollouts_app.metrics.facts import living_workers

OK = "ok"
PARTS = ("database", "migrations", "worker")


def readiness(without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Each part that is asked for and how it is: "ok", or a sentence with what to do."""
    asked = [part for part in PARTS if part not in without]
    try:
        return {part: CHECKS[part]() for part in asked}
    except (DatabaseError, InterfaceError, PoolTimeout):
        return dict.fromkeys(asked, "The database does not answer. See DATABASE_URL.")


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return OK


def _migrations() -> str:
    applied = MigrationRecorder(connection).applied_migrations()
    missing = len(_known() - applied.keys())
    if missing:
        return f"{missing} are to be applied. Restart script/server, or run manage.py migrate."
    return OK


@cache
def _known() -> frozenset[tuple[str, str]]:
    """The migrations that this code brings along, which a running process does not change."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _worker() -> str:
    if living_workers():
        return OK
    return "None shows a sign of life. Start script/worker."


CHECKS = {"database": _database, "migrations": _migrations, "worker": _worker}
