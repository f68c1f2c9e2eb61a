"""The data folder of the embedded PostgreSQL, and the settings its server starts with."""

import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from osmosis_web.locks import is_free
from osmosis_web.postgres_server import PostgresError
from osmosis_web.postgres_server.binaries import MAJOR_VERSION
from osmosis_web.postgres_server.places import Account, Places, name_of

ROLE = "osmosis"
SOCKET_NAME = ".s.PGSQL.5432"
ORPHAN_SECONDS = 20.0

# What differs from PostgreSQL's own choices: no network, and a small machine, where one server's
# clients are a handful and its helpers would cost more than they bring.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "io_method": "sync",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "max_wal_size": "256MB",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}

# For a database that is thrown away: nothing waits for the disk.
THROWAWAY_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def clean_environment() -> dict[str, str]:
    """What PostgreSQL gets to see of our environment: no secrets, no PG* variables."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def server_command(places: Places, programs: Path, *, throwaway: bool) -> list[str]:
    """The command that runs the server in the foreground."""
    settings = SETTINGS | (THROWAWAY_SETTINGS if throwaway else {})
    settings["unix_socket_directories"] = f'"{places.socket_folder}"'
    options = [argument for pair in settings.items() for argument in ("-c", "=".join(pair))]
    return [str(programs / "postgres"), "-D", str(places.data), *options]


def make_data(places: Places, programs: Path, who: Account, *, throwaway: bool, lock: int) -> None:
    """Make the data folder when there is none. `lock` is passed on to initdb, which may outlive us.

    Raises PostgresError when it cannot be made, or the one that is there cannot be used.
    """
    if places.data.exists():
        _check_data(places.data, who)
        return
    unfinished = places.data.with_name("data.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if who.user is not None:
        os.chown(unfinished, who.uid, -1)
    initdb = subprocess.run(
        [
            *(str(programs / "initdb"), "-D", str(unfinished), "--username", ROLE),
            # Only its owner can open the folder of the socket: coming that far is the permission.
            *("--auth", "trust", "--no-instructions", "--wal-segsize", "4"),
            # The same order and letter case everywhere, whatever locales the system has.
            *("--encoding", "UTF8", "--locale", "C"),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
            *(["--no-sync"] if throwaway else []),
        ],
        cwd="/",
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        user=who.user,
        group=who.group,
        extra_groups=who.groups,
        pass_fds=[lock],
    )
    if initdb.returncode != 0:
        raise PostgresError(explained(initdb.stdout, places))
    unfinished.rename(places.data)


def _check_data(data: Path, who: Account) -> None:
    owner = data.stat().st_uid
    if owner != who.uid:
        raise PostgresError(
            f"The database in {data} belongs to the user {name_of(owner)}, and PostgreSQL would "
            f"run as {who.name}. Start this as the user who made it, or choose another DATA_DIR."
        )
    version = (data / "PG_VERSION").read_text().strip()
    if version != MAJOR_VERSION:
        raise PostgresError(
            f"The database in {data} was made by PostgreSQL {version}, and this release comes with "
            f"PostgreSQL {MAJOR_VERSION}. Move its contents with pg_dump from the release that "
            "made it, or choose another DATA_DIR to start empty."
        )


def postmaster_file(places: Places) -> list[str]:
    """The lines a running server keeps about itself: its process number first, its state last.

    https://www.postgresql.org/docs/18/storage-file-layout.html
    """
    return (places.data / "postmaster.pid").read_text().splitlines() or [""]


def stop_orphan(places: Places) -> None:
    """Stop a server whose launcher was killed, and wait until it has gone.

    Raises TimeoutError when it does not go.
    """
    deadline = time.monotonic() + ORPHAN_SECONDS
    while not is_free(places.lock("server")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"A server that lost its launcher does not stop (see {places.log}).")
        with suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as door:
            # As long as it answers, the number in its file is its own.
            door.connect(str(places.socket_folder / SOCKET_NAME))
            os.kill(int(postmaster_file(places)[0]), signal.SIGINT)
        time.sleep(0.05)


def explained(output: str, places: Places) -> str:
    """A sentence for what PostgreSQL wrote before it gave up."""
    if os.strerror(errno.ENOSPC) in output:
        return full_disk(places.cluster)
    complaints = re.findall(r"(?:FATAL|PANIC|ERROR|error): *(.*)", output)
    reason = (
        complaints[-1] if complaints else (output.strip().splitlines() or ["no reason given"])[-1]
    )
    return f"The embedded PostgreSQL does not start: {reason} (its log is {places.log})."


def full_disk(path: Path) -> str:
    return f"The disk that holds {path.resolve()} is full. Free some space and start again."
