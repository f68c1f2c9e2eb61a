"""The web server as it is run for people: gunicorn with the product's own settings."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import requests
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from osmosis_web.server import web_command, worker_command
from rollouts_app.models import User
from tests.settings import FOLDER, free_port
from tests.waiting import wait_until
from tests.workers import ROOT, worker_environment


@dataclass(frozen=True)
class Served:
    """A running program of the product, and what it writes to its log."""

    process: "subprocess.Popen[bytes]"
    log: Path
    url: str = ""

    def text(self) -> str:
        """All it has written so far."""
        return self.log.read_text()

    def lines(self) -> list[dict[str, Any]]:
        """The log of a program with LOG_FORMAT=json."""
        return [json.loads(line) for line in self.text().splitlines()]


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Served]:
    """A web server on a port of its own; its files lie in the folder."""
    address = f"127.0.0.1:{free_port()}"
    given = {"PUBLIC_URL": f"http://{address}", "DATA_DIR": str(folder), **environment}
    (folder / "static").symlink_to(static_files())
    with _running(web_command(address), folder / "web.log", f"http://{address}", given) as web:
        wait_until(lambda: web.process.poll() is not None or _answers(web.url), seconds=60)
        assert web.process.poll() is None, web.text()
        yield web


@cache
def static_files() -> Path:
    """The collected and compressed static files, made once for all tests."""
    environment = {**worker_environment(), "DATA_DIR": str(FOLDER / "collected")}
    collect = [sys.executable, "-m", "osmosis_web.prepare", "collectstatic"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    return FOLDER / "collected" / "static"


@contextmanager
def working(folder: Path, **environment: str) -> Iterator[Served]:
    """A worker."""
    given = {"DATA_DIR": str(folder), **environment}
    with _running(worker_command(), folder / "worker.log", "", given) as worker:
        yield worker


@contextmanager
def _running(
    command: list[str], log: Path, url: str, environment: dict[str, str]
) -> Iterator[Served]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**worker_environment(), **environment},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield Served(process, log, url)
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=5).ok
    except requests.RequestException:
        return False


def session_of(user: User) -> dict[str, str]:
    """The cookie of somebody who has signed in."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return {"osmosis_session": str(session.session_key)}
