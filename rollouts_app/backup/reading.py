"""A backup, back into an empty database."""

import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.db import connection as django_connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from rollouts_app import vault
from rollouts_app.backup import BackupError
from rollouts_app.backup.tables import Connection, all_tables
from rollouts_app.backup.writing import CONTENTS, FORMAT, SEAL, connect, member

BLOCK = 1 << 16

Contents = dict[str, Any]


def restore(path: Path, *, without_keys: bool = False) -> int:
    """Fill the empty database with a backup, at the migrations of then. Returns how many rows.

    `without_keys` takes a backup whose secrets nobody can read any more. To be followed by
    `migrate`. Raises BackupError, OSError or psycopg.Error; nothing of the rows is kept then.
    """
    try:
        with ZipFile(path) as archive:
            contents = _contents(archive)
            _check_keys(contents, without_keys=without_keys)
            targets = _migrations(contents)
            with connect() as connection:
                _check_empty(connection)
            MigrationExecutor(django_connection).migrate(targets)
            with connect() as connection:
                return _fill(connection, archive, contents)
    except (BadZipFile, KeyError, ValueError, EOFError) as error:
        raise BackupError(f"{path} is no whole backup: {error}") from error


def _contents(archive: ZipFile) -> Contents:
    contents: Contents = json.loads(archive.read(CONTENTS))
    if contents["format"] != FORMAT:
        raise BackupError("A newer Osmosis Web made this backup: restore it with that version.")
    return contents


def _check_keys(contents: Contents, *, without_keys: bool) -> None:
    if vault.decrypt(contents["seal"]) != SEAL and not without_keys:
        raise BackupError(
            "None of ENCRYPTION_KEYS is that of this backup: the secrets in it could not be read. "
            "Add the key of then behind the newest one. If it is lost, --without-keys restores all "
            "the rest."
        )


def _check_empty(connection: Connection) -> None:
    tables = all_tables(connection)
    if tables:
        raise BackupError(
            f"The database that DATABASE_URL names is not empty: it has {len(tables)} tables, such "
            f"as {tables[0]}. Make a new one (createdb) and name that: nothing is overwritten."
        )


def _migrations(contents: Contents) -> list[tuple[str, str]]:
    """Those that make the schema of then, if we have all of them."""
    targets = [(app, name) for app, name in contents["migrations"]]
    unknown = [name for name in targets if name not in MigrationLoader(None).disk_migrations]
    if unknown:
        raise BackupError(
            f"This version of Osmosis Web does not know {'.'.join(unknown[0])}, a migration of the "
            "backup: restore it with the version that made it, or a newer one."
        )
    return targets


def _fill(connection: Connection, archive: ZipFile, contents: Contents) -> int:
    """All rows or none."""
    with connection.transaction():
        for table, described in contents["tables"].items():
            # What migrations have put there is in the backup as well.
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            if _copy(connection, archive, table, described["columns"]) != described["rows"]:
                raise BackupError(f"Rows of {table} are missing in the backup.")
        for sequence, last in contents["sequences"].items():
            connection.execute("SELECT setval(quote_ident(%s)::regclass, %s)", [sequence, last])
    connection.autocommit = True
    connection.execute("ANALYZE")
    return sum(table["rows"] for table in contents["tables"].values())


def _copy(connection: Connection, archive: ZipFile, table: str, columns: list[str]) -> int:
    command = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with archive.open(member(table)) as entry, connection.cursor() as cursor:
        with cursor.copy(command) as copy:
            while block := entry.read(BLOCK):
                copy.write(block)
        return cursor.rowcount
