"""Real workers on the tests' database: as processes of their own, or for what waits now."""

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

from django.db import connection, connections
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector

from rollouts_app.management.commands.worker import put_back_jobs_of_the_dead

ROOT = Path(__file__).resolve().parent.parent


def database_url(name: str = "") -> str:
    """The address of the database the tests run on, or of another one on its server."""
    parts = connection.get_connection_params()
    parts["dbname"] = name or parts["dbname"]
    names = {"dbname", "host", "port", "user", "password"}
    query = urlencode({name: str(value) for name, value in parts.items() if name in names})
    return f"postgres:///{parts['dbname']}?{query}"


def worker_environment() -> dict[str, str]:
    """The product's own settings, on the tests' database."""
    settings = {"DJANGO_SETTINGS_MODULE": "osmosis_web.settings", "DJANGO_ALLOW_ASYNC_UNSAFE": ""}
    return {**os.environ, "DATABASE_URL": database_url(), **settings}


def start_worker(data: Path | None = None) -> "subprocess.Popen[bytes]":
    """`manage.py worker` in a session of its own; with `data` its caches lie there."""
    places = {"DATA_DIR": str(data)} if data else {}
    return subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env={**worker_environment(), **places},
        start_new_session=True,
    )


def work_off() -> None:
    """A real worker, in this process, that works off what waits now, dead workers' jobs too."""
    connector: DjangoConnector = app.connector  # type: ignore[assignment]

    def work() -> None:
        with app.replace_connector(connector.get_worker_connector()) as worker_app:
            asyncio.run(_work_off(worker_app))
        # What this thread borrowed goes back to the pool before the thread is gone.
        connections.close_all()

    # A browser test leaves a running event loop in the main thread, where no second one fits.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(work).result()


async def _work_off(worker_app: App) -> None:
    async with worker_app.open_async():
        await put_back_jobs_of_the_dead(worker_app)
        await worker_app.run_worker_async(
            wait=False, install_signal_handlers=False, listen_notify=False, delete_jobs="always"
        )
