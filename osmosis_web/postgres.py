"""The embedded PostgreSQL: start it, share it, and let it stop with its last user.

    with postgres.running(data_folder) as url:
        ...                                             # url is a DATABASE_URL

or for one command, which gets it as DATABASE_URL:

    python -m osmosis_web.postgres run FOLDER -- command...
    python -m osmosis_web.postgres run --throwaway -- command...

Any number of processes may use the same folder. The first starts the server, the others join, and
it stops when the last is gone, even if that was killed. Children that inherit the lock's descriptor
(those run with `close_fds=False`, or in place of ourselves) count as users.
"""

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from pathlib import Path
from urllib.parse import quote

import psycopg

from osmosis_web import locks
from osmosis_web.postgres_server import PostgresError
from osmosis_web.postgres_server.binaries import programs
from osmosis_web.postgres_server.cluster import (
    ROLE,
    clean_environment,
    explained,
    full_disk,
    make_data,
    stop_orphan,
)
from osmosis_web.postgres_server.places import (
    Places,
    account,
    make_cluster_folder,
    make_folder,
    make_socket_folder,
    remove,
)

__all__ = ["EmbeddedPostgres", "PostgresError", "remove_database", "running", "start"]

PROJECT = Path(__file__).resolve().parent.parent
DATABASE = "osmosis"

# Making a database takes a second or two, replaying what a crash left may take longer.
START_SECONDS = 120.0
STOP_SECONDS = 30.0
PATIENCE_SECONDS = 2.0
LARGEST_LOG_BYTES = 5_000_000


@dataclass(frozen=True)
class EmbeddedPostgres:
    """Our share in a running server. `descriptor` holds the lock and is inherited by children."""

    url: str
    places: Places
    descriptor: int

    def close(self) -> None:
        """Give our share up. When it was the last one, wait until the server has stopped."""
        os.close(self.descriptor)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and _is_stopping(self.places):
            time.sleep(0.02)


@contextmanager
def running(data_folder: Path, *, throwaway: bool = False) -> Iterator[str]:
    """The DATABASE_URL of a server that runs at least as long as the block. See `start`."""
    server = start(data_folder, throwaway=throwaway)
    try:
        yield server.url
    finally:
        server.close()


def start(data_folder: Path, *, throwaway: bool = False) -> EmbeddedPostgres:
    """Start the server whose files lie in this folder, or join it; made when missing.

    A throwaway server does not wait for the disk, and is removed with its files when its last user
    goes. Raises PostgresError, whose message says what to do.
    """
    try:
        places = make_folder(data_folder)
        with locks.locked(places.lock("starting"), seconds=START_SECONDS) as mutex:
            users = locks.lock(places.lock("users"), shared=True, seconds=STOP_SECONDS)
            try:
                url = _url_of_server(places, mutex, throwaway=throwaway)
            except BaseException:
                os.close(users)
                raise
    except TimeoutError as error:
        raise PostgresError(
            f"The embedded PostgreSQL is busy starting or stopping: {error}"
        ) from None
    except OSError as error:
        raise PostgresError(_sentence(error, data_folder)) from error
    os.set_inheritable(users, True)  # noqa: FBT003
    return EmbeddedPostgres(url, places, users)


def remove_database(data_folder: Path) -> None:
    """Remove the database of this folder for good. Raises PostgresError while somebody uses it."""
    if not data_folder.exists():
        return
    places = make_folder(data_folder)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with locks.locked(places.lock("starting"), seconds=STOP_SECONDS):
            if locks.is_free(places.lock("launcher")):
                remove(places)
                return
        time.sleep(0.1)  # a server whose last user was killed needs a moment, and the lock, to stop
    raise PostgresError(f"The database in {data_folder} is in use.")


def _url_of_server(places: Places, mutex: int, *, throwaway: bool) -> str:
    """Join the server or start it, and wait until it answers."""
    launcher = None
    written = 0
    lock = locks.try_lock(places.lock("launcher"))
    if lock is not None:
        try:
            written = _cut_log(places)
            launcher = _launch(places, mutex, lock, throwaway=throwaway)
        finally:
            os.close(lock)
    address = f"postgresql://{ROLE}@{quote(str(places.socket_folder), safe='')}"
    deadline = time.monotonic() + START_SECONDS
    while not _answers(address):
        if time.monotonic() > deadline or (launcher and launcher.poll() is not None):
            with places.log.open(errors="replace") as log:
                log.seek(written)
                raise PostgresError(explained(log.read(), places))
        time.sleep(0.02)
    return f"{address}/{DATABASE}"


def _launch(places: Places, mutex: int, lock: int, *, throwaway: bool) -> subprocess.Popen[bytes]:
    """Prepare the files and start the launcher, which gets the lock that says it is there."""
    stop_orphan(places)
    who = account()
    make_cluster_folder(places, who)
    folder = programs(places, who)
    make_data(places, folder, who, throwaway=throwaway, lock=mutex)
    make_socket_folder(places, who)
    with places.log.open("ab") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "osmosis_web.postgres_server.launcher"),
                *(str(places.folder), str(folder)),
                *(["--throwaway"] if throwaway else []),
            ],
            cwd=PROJECT,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[lock],
        )


def _cut_log(places: Places) -> int:
    """Put a log that has grown long aside. Returns how many bytes the log holds."""
    with suppress(FileNotFoundError):
        if places.log.stat().st_size > LARGEST_LOG_BYTES:
            places.log.replace(places.old_log)
        return places.log.stat().st_size
    return 0


def _sentence(error: OSError, data_folder: Path) -> str:
    # Copying many files reports all failures in one error without a number.
    if error.errno in (ENOSPC, EDQUOT) or os.strerror(ENOSPC) in str(error):
        return full_disk(data_folder)
    return (
        f"Cannot keep a database in {data_folder}: {error.strerror or error} "
        f"({error.filename or 'no file named'}). Choose another DATA_DIR."
    )


def _answers(address: str) -> bool:
    """Whether the server takes connections. Makes our database when it has none yet."""
    try:
        with psycopg.connect(
            f"{address}/postgres", autocommit=True, connect_timeout=5
        ) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if not known.fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.OperationalError:
        return False
    return True


def _is_stopping(places: Places) -> bool:
    """Whether the launcher is there although no user is."""
    try:
        return locks.is_free(places.lock("users")) and not locks.is_free(places.lock("launcher"))
    except FileNotFoundError:
        return False  # a throwaway server has removed its files


def main() -> None:
    parser = ArgumentParser(prog="python -m osmosis_web.postgres", description=__doc__)
    parser.add_argument("what", choices=["run"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--throwaway", action="store_true")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if arguments.throwaway == (arguments.folder is not None):
        parser.error("give either a folder or --throwaway")
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="osmosis-"))
    if arguments.throwaway:
        folder.chmod(0o711)  # PostgreSQL may run under another account; all it holds is closed
    try:
        server = start(folder, throwaway=arguments.throwaway)
    except PostgresError as error:
        sys.exit(str(error))
    os.environ["DATABASE_URL"] = server.url
    # In our place, the command keeps the lock; the launcher stops the server when it ends.
    os.execvp(arguments.command[0], arguments.command)  # noqa: S606


if __name__ == "__main__":
    main()
