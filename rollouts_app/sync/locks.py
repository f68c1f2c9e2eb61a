"""One syncer a repository, whatever the queue believes."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# Keeps our advisory locks apart from those of others in the same database.
NAMESPACE = 0x05_05 << 48


@contextmanager
def repository_lock(repository_id: int) -> Iterator[bool]:
    """Hold the repository's lock; yields False when somebody else holds it.

    It belongs to the database session, so it ends with a worker that dies.
    """
    key = [NAMESPACE | repository_id]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", key)
        [is_ours] = cursor.fetchone()
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", key)
