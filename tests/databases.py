"""Databases beside that of the tests, on the same server, and commands run on them."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import uuid4

import psycopg
from psycopg import sql

from tests.workers import ROOT, database_url, worker_environment


@contextmanager
def empty_database() -> Iterator[str]:
    """The DATABASE_URL of a new, empty database."""
    name = f"test_{uuid4().hex[:12]}"
    with psycopg.connect(database_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield database_url(name)
        finally:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            connection.execute(drop)


def manage(url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`manage.py` on that database."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**worker_environment(), "DATABASE_URL": url},
        capture_output=True,
        text=True,
    )


def rows_of(url: str, columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What stands in these columns of each table, as text and in one order."""
    with psycopg.connect(url) as connection:
        return {
            table: sorted(row for (row,) in connection.execute(_query(table, names)))
            for table, names in columns.items()
        }


def _query(table: str, columns: Sequence[str]) -> sql.Composed:
    return sql.SQL("SELECT row({})::text FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
    )
