"""All rows as of one moment, by COPY, into a ZIP archive."""

import json
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import psycopg
from django.db import connection as django_connection
from psycopg import IsolationLevel, sql

from rollouts_app import vault
from rollouts_app.backup import BackupError
from rollouts_app.backup.tables import Connection, columns_of, sequences, tables_to_keep

FORMAT = 1
CONTENTS = "contents.json"
# Whoever can read it has the keys that the secrets in the backup were encrypted with.
SEAL = "osmosis-web backup"

MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY id"


def connect() -> Connection:
    """A connection of its own beside Django's pool. Raises psycopg.OperationalError."""
    parameters = django_connection.get_connection_params()
    connection: Connection = psycopg.connect(
        **{name: value for name, value in parameters.items() if name not in OURS}
    )
    for setting in SAME_TEXT:
        connection.execute(setting)
    connection.commit()
    return connection


# Written and read alike, whatever the servers' defaults are.
SAME_TEXT = (
    "SET client_encoding TO 'UTF8'",
    "SET datestyle TO ISO",
    "SET intervalstyle TO postgres",
    "SET timezone TO 'UTC'",
)
# What Django's connections are for: rows of its own shapes.
OURS = ("cursor_factory", "context", "prepare_threshold", "client_encoding")


def back_up(path: Path) -> int:
    """Write the database into a new file that only we may read. Returns how many rows it holds.

    The server goes on working meanwhile. Raises BackupError, OSError or psycopg.Error; then there
    is no file.
    """
    if path.exists():
        raise BackupError(f"{path} exists. Name a new file: a backup replaces none.")
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with ExitStack() as stack:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            file = stack.enter_context(os.fdopen(descriptor, "wb"))
            rows = _write(stack.enter_context(ZipFile(file, "w", ZIP_DEFLATED)))
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return rows


def _write(archive: ZipFile) -> int:
    with connect() as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        columns = {name: columns_of(connection, name) for name in tables_to_keep(connection)}
        rows = {name: _copy(connection, archive, name, columns[name]) for name in columns}
        contents = {
            "format": FORMAT,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "postgresql": connection.info.server_version,
            "migrations": connection.execute(MIGRATIONS).fetchall(),
            "tables": {name: {"columns": columns[name], "rows": rows[name]} for name in columns},
            "sequences": sequences(connection),
            "seal": vault.encrypt(SEAL),
        }
    archive.writestr(CONTENTS, json.dumps(contents, indent=1))
    return sum(rows.values())


def _copy(connection: Connection, archive: ZipFile, table: str, columns: list[str]) -> int:
    """One table, in PostgreSQL's own text, which every version reads. Returns how many rows."""
    command = sql.SQL("COPY {} ({}) TO STDOUT").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with (
        archive.open(member(table), "w", force_zip64=True) as entry,
        connection.cursor() as cursor,
    ):
        with cursor.copy(command) as copy:
            for block in copy:
                entry.write(block)
        return cursor.rowcount


def member(table: str) -> str:
    """The name of a table's rows within the archive."""
    return f"tables/{table}.txt"
