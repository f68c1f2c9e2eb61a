"""Run management commands before the server starts, in one process, with sentences for failures.

python -m osmosis_web.prepare check migrate collectstatic
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import django
import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

OPTIONS: dict[str, dict[str, Any]] = {
    "check": {"deploy": True, "fail_level": "ERROR"},
    "migrate": {"interactive": False, "verbosity": 0},
    "collectstatic": {"interactive": False, "verbosity": 0},
}

# Any number will do, as long as it is ours: "osmosis" as letters on a telephone.
ONE_AT_A_TIME = 6766747


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one server prepare a database while others that start together wait for it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ONE_AT_A_TIME])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ONE_AT_A_TIME])


def prepare(*commands: str) -> None:
    """Run the commands in this order. Raises what they raise."""
    django.setup()
    # The pool would try for ten seconds, and keep the reason of a failure to itself.
    psycopg.connect(**connection.get_connection_params(), connect_timeout=10).close()
    with one_at_a_time():
        for command in commands:
            # What is for people to read, such as the link of the first run, is said on stderr.
            call_command(command, stdout=StringIO(), **OPTIONS.get(command, {}))


def main(*commands: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "osmosis_web.settings")
    try:
        prepare(*commands)
    except (ImproperlyConfigured, CommandError) as error:
        sys.exit(str(error))
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        sys.exit(f"The database named by DATABASE_URL does not answer: {reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
