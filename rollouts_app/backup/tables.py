"""Which tables there are, and in which order they can be filled."""

from graphlib import TopologicalSorter
from typing import Any

import psycopg

# Open runs and requests for checks are rows of ours, for which workers find new jobs; what is
# cached lasts an hour; and migrations are applied, not copied.
LEFT_OUT = ("procrastinate\\_%", "cache\\_entries", "django\\_migrations")

TABLES = """
    SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename
"""
KEPT_TABLES = """
    SELECT tablename FROM pg_tables
    WHERE schemaname = current_schema() AND NOT tablename LIKE ANY (%s) ORDER BY tablename
"""
COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER'
    ORDER BY ordinal_position
"""
# References that are checked at once; Django's own wait for the end of the transaction.
REFERENCES = """
    SELECT source.relname, target.relname FROM pg_constraint
    JOIN pg_class AS source ON source.oid = conrelid
    JOIN pg_class AS target ON target.oid = confrelid
    WHERE contype = 'f' AND NOT condeferrable AND connamespace = current_schema()::regnamespace
"""
SEQUENCES = """
    SELECT sequencename, last_value FROM pg_sequences
    WHERE schemaname = current_schema() AND NOT sequencename LIKE ANY (%s)
        AND last_value IS NOT NULL
    ORDER BY sequencename
"""

Connection = psycopg.Connection[Any]


def all_tables(connection: Connection) -> list[str]:
    """Every table, whoever made it."""
    return [name for (name,) in connection.execute(TABLES)]


def tables_to_keep(connection: Connection) -> list[str]:
    """Those of a backup, each after those that it refers to."""
    kept = [name for (name,) in connection.execute(KEPT_TABLES, [list(LEFT_OUT)])]
    graph: dict[str, set[str]] = {name: set() for name in kept}
    for source, target in connection.execute(REFERENCES):
        if source in graph and target in graph and source != target:
            graph[source].add(target)
    return list(TopologicalSorter(graph).static_order())


def columns_of(connection: Connection, table: str) -> list[str]:
    """What the table stores, without what it computes."""
    return [name for (name,) in connection.execute(COLUMNS, [table])]


def sequences(connection: Connection) -> dict[str, int]:
    """The last number that each sequence gave out."""
    return dict(connection.execute(SEQUENCES, [list(LEFT_OUT)]).fetchall())
