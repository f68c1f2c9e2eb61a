"""`manage.py rotate_keys`: what is encrypted at rest, encrypted anew with the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rollouts_app.backup.keys import rotate

DONE = """\
{count} secrets are encrypted with the newest of ENCRYPTION_KEYS. The older keys can go in an hour,
when what is kept for a short time has expired. Backups made so far need them.
"""


class Command(BaseCommand):
    help = "Encrypts all stored secrets anew with the newest of ENCRYPTION_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        count, unreadable = rotate()
        if unreadable:
            raise CommandError(
                f"{count} secrets are encrypted with the newest key, and {len(unreadable)} cannot "
                f"be read with any of ENCRYPTION_KEYS: {', '.join(unreadable)}. Add the key they "
                "were encrypted with, or enter them again."
            )
        self.stdout.write(DONE.format(count=count))
