"""`manage.py administrators`: who looks after this server; names others, or takes them off."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rollouts_app import administrators
from rollouts_app.models import User
from rollouts_app.refusals import NotPossible


class Command(BaseCommand):
    help = "Lists the administrators of this server, after adding or removing one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--add", metavar="LOGIN", help="GitHub login of a new one")
        parser.add_argument("--remove", metavar="LOGIN", help="GitHub login of a former one")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["add"]:
                administrators.add(None, options["add"])
            if options["remove"]:
                administrators.remove(None, options["remove"])
        except NotPossible as problem:
            raise CommandError(str(problem)) from problem
        for user in User.objects.administrators().order_by("github_login"):
            self.stdout.write(f"{user.github_login}  {user.display_name}")
