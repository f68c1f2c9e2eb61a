"""The upgrade from the version before: its rows are all there afterwards, and of use."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.databases import empty_database, manage, rows_of

pytestmark = pytest.mark.django_db(transaction=True)

# The last migration of the version before this one (CHANGELOG.md).
BEFORE = ("rollouts_app", "0016_read_access")

COMMIT, TREE = "c" * 40, "7" * 40
NOW = "2026-11-30T12:00:00+00:00"

# One row a table, in an order in which each finds what it refers to.
ROWS: dict[str, dict[str, Any]] = {
    "user": {"username": "ada", "github_id": 7, "github_login": "ada", "is_active": True},
    "workspace": {"slug": "acme", "timezone": "Europe/Berlin"},
    "membership": {"user_id": 1, "workspace_id": 1, "role": "owner"},
    "invitation": {"workspace_id": 1, "invited_by_id": 1, "role": "member", "github_login": "bob"},
    "installation": {"github_id": 11, "account_id": 12, "account_login": "acme"},
    "repository": {
        "workspace_id": 1,
        "installation_id": 1,
        "github_id": 13,
        "full_name": "acme/agents",
        "default_branch": "main",
    },
    "rollout": {"repository_id": 1, "name": "maths"},
    "rolloutversion": {"rollout_id": 1, "tree_id": TREE, "readme": "# Sums\n\tand “quotes” \\."},
    "configversion": {"repository_id": 1, "path": "configs/eval/maths.toml", "blob_id": TREE},
    "catalog": {"repository_id": 1, "rollouts_tree": TREE, "versions": [1], "configs": [1]},
    "branch": {"repository_id": 1, "name": "main", "commit": COMMIT, "catalog_id": 1},
    "syncrun": {
        "repository_id": 1,
        "branch_id": 1,
        "commit": COMMIT,
        "state": "success",
        "trigger": "push",
        "finished_at": NOW,
        "catalog_after_id": 1,
    },
    "webhookdelivery": {
        "delivery_id": "d1",
        "event": "push",
        "repository_id": 1,
        "run_id": 1,
        "took": "00:00:00.0123",
    },
    "auditevent": {"workspace_id": 1, "actor_id": 1, "deed": "created", "subject": "acme"},
}
TABLES = [f"rollouts_app_{name}" for name in ROWS]

# What stands in a column that a row says nothing of and that must not be empty.
FILLINGS = {
    "character varying": "",
    "text": "",
    "boolean": False,
    "integer": 0,
    "jsonb": {},
    "timestamp with time zone": NOW,
}
NEEDED = """
    SELECT column_name, data_type FROM information_schema.columns
    WHERE table_name = %s AND is_nullable = 'NO' AND is_identity = 'NO'
"""
INSERT = """
    INSERT INTO {table} ({columns}) SELECT {columns}
    FROM jsonb_populate_record(NULL::{table}, %s::jsonb)
"""


def fill(connection: "psycopg.Connection[Any]", table: str, row: dict[str, Any]) -> None:
    needed = {name: FILLINGS.get(kind) for name, kind in connection.execute(NEEDED, [table])}
    whole = {**needed, **row}
    command = sql.SQL(INSERT).format(
        table=sql.Identifier(table), columns=sql.SQL(", ").join(map(sql.Identifier, whole))
    )
    connection.execute(command, [json.dumps(whole)])


@pytest.fixture
def old() -> Iterator[str]:
    """A database as the version before left it: its address."""
    with empty_database() as url:
        assert manage(url, "migrate", *BEFORE).stderr == ""
        with psycopg.connect(url) as connection:
            for table, row in zip(TABLES, ROWS.values(), strict=True):
                fill(connection, table, row)
        yield url


def columns(url: str) -> dict[str, list[str]]:
    """The columns of each table as the version before had them."""
    query = "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1"
    with psycopg.connect(url) as connection:
        return {table: [name for (name,) in connection.execute(query, [table])] for table in TABLES}


def test_it_keeps_every_row_of_the_version_before(old: str, tmp_path: Path) -> None:
    known = columns(old)
    before = rows_of(old, known)
    assert [len(rows) for rows in before.values()] == [1] * len(TABLES)
    backup = str(tmp_path / "old.backup")
    assert manage(old, "backup", backup).stderr == ""
    assert manage(old, "migrate").stderr == ""
    assert rows_of(old, known) == before
    assert manage(old, "migrate", "--check").returncode == 0
    with empty_database() as new:
        # A backup of the version before, restored by this one.
        assert manage(new, "restore", backup).stderr == ""
        assert rows_of(new, known) == before
        assert manage(new, "migrate", "--check").returncode == 0
