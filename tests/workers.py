"""Real workers, as processes of their own, on the tests' database."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent


def database_url() -> str:
    """The address of the database the tests run on."""
    parts = connection.get_connection_params()
    names = {"dbname", "host", "port", "user", "password"}
    query = urlencode({name: str(value) for name, value in parts.items() if name in names})
    return f"postgres:///{parts['dbname']}?{query}"


def start_worker(data: Path | None = None) -> "subprocess.Popen[bytes]":
    """`manage.py worker` in a session of its own; with `data` its caches lie there."""
    environment = os.environ | {"DATABASE_URL": database_url()}
    if data:
        environment["DATA_DIR"] = str(data)
    return subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "osmosis_web.settings"},
        start_new_session=True,
    )
