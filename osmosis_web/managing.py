"""Run a management command on the database that `script/server` uses: `script/manage COMMAND`.

python -m osmosis_web.managing COMMAND [ARGUMENT ...]
"""

import os
import sys

from django.core.exceptions import ImproperlyConfigured

from osmosis_web.postgres import PostgresError
from osmosis_web.server import PROJECT, find_database


def main(*arguments: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "osmosis_web.settings")
    try:
        find_database(says_so=False)
    except (ImproperlyConfigured, PostgresError) as error:
        sys.exit(str(error))
    # In our place, it keeps the lock of the embedded PostgreSQL.
    command = [sys.executable, str(PROJECT / "manage.py"), *arguments]
    os.execv(sys.executable, command)  # noqa: S606


if __name__ == "__main__":
    main(*sys.argv[1:])
