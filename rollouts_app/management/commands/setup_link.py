"""`manage.py setup_link`: prints the link of the first run, while that is not over."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from rollouts_app import setup_token

LINK = """
First run: open this link to create the GitHub App and become the administrator.

  {}

"""


class Command(BaseCommand):
    help = "Makes a new link to the first run; the one printed before ends. Silent once it is over."

    def handle(self, *args: Any, **options: Any) -> None:
        if setup_token.is_needed():
            address = f"{settings.PUBLIC_URL}{reverse('setup')}?token={setup_token.make()}"
            self.stderr.write(LINK.format(address))
