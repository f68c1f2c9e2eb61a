"""`manage.py login_link LOGIN`: lets an administrator in while GitHub's sign-in is down."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from rollouts_app import administrators
from rollouts_app.refusals import NotPossible


class Command(BaseCommand):
    help = "Prints a link that lets an administrator in once, within 15 minutes, without GitHub."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("login", help="the administrator's GitHub login")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            token = administrators.make_login_link(options["login"])
        except NotPossible as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{settings.PUBLIC_URL}{reverse('login-link', args=[token])}")
