"""`manage.py restore FILE`: a backup, into an empty database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from rollouts_app.backup import BackupError
from rollouts_app.backup.reading import restore

DONE = """\
{rows} rows are back. Start web server and workers: they compare all branches with GitHub, and make
the git caches anew.
"""


class Command(BaseCommand):
    help = "Fills the empty database that DATABASE_URL names with a backup."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--without-keys",
            action="store_true",
            help="although the keys of then are lost, and with them the secrets",
        )

    def handle(self, *args: Any, file: Path, without_keys: bool, **options: Any) -> None:
        try:
            rows = restore(file, without_keys=without_keys)
        except (BackupError, OSError, psycopg.Error) as error:
            raise CommandError(f"Nothing was restored. {error}") from error
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(DONE.format(rows=rows))
