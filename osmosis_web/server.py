"""Start the web server, a worker, or both: what `script/server` and `script/worker` run.

    python -m osmosis_web.server web [--with-worker]
    python -m osmosis_web.server worker

Without DATABASE_URL they share the embedded PostgreSQL in DATA_DIR.
"""

import importlib
import os
import socket
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import NoReturn

from django.core.exceptions import ImproperlyConfigured

from osmosis_web import postgres
from osmosis_web.postgres import EmbeddedPostgres, PostgresError
from osmosis_web.processes import CannotStart, Program, Stopped, Supervisor

PROJECT = Path(__file__).resolve().parent.parent

# As long as gunicorn gives requests, and a worker its job, to come to their end.
STOP_SECONDS = 30.0

EMBEDDED = """\
Warning: DATABASE_URL is not set. This runs on the PostgreSQL that comes along, with its files in
{folder}. It serves this machine only, and nobody backs it up unless you do:
script/manage backup FILE. For more, name a PostgreSQL server in DATABASE_URL (docs/deploy.md).
"""


def web_command(bind: str) -> list[str]:
    """gunicorn, listening at an address of its own notation, such as 127.0.0.1:8000."""
    return [
        *(sys.executable, "-m", "gunicorn", "osmosis_web.wsgi:application", "--bind", bind),
        *("--worker-class", "gthread", "--workers", "2", "--threads", "4", "--no-control-socket"),
        *("--logger-class", "osmosis_web.gunicorn_logs.GunicornLogger"),
    ]


def worker_command() -> list[str]:
    return [sys.executable, str(PROJECT / "manage.py"), "worker"]


def data_dir() -> Path:
    """DATA_DIR as the settings have it. Raises ImproperlyConfigured when one of them is missing."""
    given = os.environ.get("DATABASE_URL")
    os.environ["DATABASE_URL"] = given or "postgresql:///"  # not the variable to complain about
    folder: Path = importlib.import_module("osmosis_web.settings").DATA_DIR
    os.environ["DATABASE_URL"] = given or ""
    return folder


def find_database(*, says_so: bool = True) -> EmbeddedPostgres | None:
    """Check the settings, and start the embedded PostgreSQL unless they name a server."""
    folder = data_dir() / "postgres"
    if os.environ["DATABASE_URL"]:
        return None
    if says_so:
        sys.stderr.write(EMBEDDED.format(folder=folder))
    server = postgres.start(folder)
    os.environ["DATABASE_URL"] = server.url
    return server


def prepare(*commands: str) -> None:
    """See `prepare.py`, whose process gives back the memory it takes. Ends ours when it fails."""
    command = [sys.executable, "-m", "osmosis_web.prepare", *commands]
    failed = subprocess.run(command, close_fds=False, start_new_session=True).returncode
    if failed:
        sys.exit(failed)


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen there."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((host, port))
        except OSError:
            return False
    return True


def is_given_a_socket() -> bool:
    """Whether systemd listens for us: then the address is taken, and gunicorn takes it over.

    https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
    """
    return os.environ.get("LISTEN_PID") == str(os.getpid())


def run(what: str, *, with_worker: bool) -> None:
    """Check, prepare and start. Raises ImproperlyConfigured or PostgresError."""
    bind = os.environ.get("BIND") or f"127.0.0.1:{os.environ.get('PORT') or 8000}"
    database = find_database()
    worker = Program("worker", worker_command())
    if what == "worker":
        prepare("check")
        supervise(database, worker)
    host, _, port = bind.rpartition(":")
    is_ours = port.isdecimal() and "." in host and not is_given_a_socket()
    if is_ours and not port_is_free(host, int(port)):
        sys.exit(f"{bind} is in use by another program, or not ours to use. Set PORT or BIND.")
    prepare("check", "migrate", "collectstatic", "setup_link")
    if with_worker:
        supervise(database, worker, Program("web", web_command(bind)))
    # In our place, it keeps the lock of the embedded PostgreSQL.
    os.execv(sys.executable, web_command(bind))  # noqa: S606


def supervise(database: EmbeddedPostgres | None, *programs: Program) -> NoReturn:
    """Keep these programs running until we are told to stop, then end our process."""
    code: int | str = 0
    try:
        with Supervisor(stop_seconds=STOP_SECONDS) as supervisor:
            for program in programs:
                supervisor.start(program)
            supervisor.watch()
    except Stopped:
        pass
    except CannotStart as failure:
        code = str(failure)
    if database is not None:
        database.close()
    sys.exit(code)


def main() -> None:
    parser = ArgumentParser(prog="script/server")
    parser.add_argument("what", choices=["web", "worker"])
    parser.add_argument("--with-worker", action="store_true", help="for a single machine")
    arguments = parser.parse_args()
    try:
        run(arguments.what, with_worker=arguments.with_worker)
    except (ImproperlyConfigured, PostgresError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
