"""`manage.py doctor`: the connection doctor on a terminal; ends with 1 when something is wrong."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from rollouts_app.doctor import diagnose, facts_now, report
from rollouts_app.errors import Denied


class Command(BaseCommand):
    help = "Says what keeps this server and GitHub apart, and how to mend it."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            lines = diagnose(facts_now(seen=None))
        except Denied as problem:
            # There is no App yet, so nothing between it and GitHub.
            self.stdout.write(f"[bad] GitHub App: {problem}")
            sys.exit(1)
        self.stdout.write(report(lines))
        if any(line.state == "bad" for line in lines):
            sys.exit(1)
