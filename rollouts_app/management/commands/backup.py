"""`manage.py backup FILE`: the whole database in one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError

from rollouts_app.backup import BackupError
from rollouts_app.backup.writing import back_up

DONE = """\
{rows} rows are in {path}, {size:.1f} MB.
Keep ENCRYPTION_KEYS and SECRET_KEY with it, but not beside it: without the former nobody can read
the secrets in it, without the latter everybody has to sign in again.
"""


class Command(BaseCommand):
    help = "Writes the whole database into a new file, while the server goes on working."
    # The schema is taken as it is, whatever this code would make of it.
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            rows = back_up(file)
        except (BackupError, OSError, psycopg.Error) as error:
            raise CommandError(f"No backup was made. {error}") from error
        self.stdout.write(DONE.format(rows=rows, path=file, size=file.stat().st_size / 1e6))
