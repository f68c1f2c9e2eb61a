"""Two repositories of one account, connected to two workspaces, and all that they ever held."""

import logging
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

from django.db import DatabaseError, connection, connections

from rollouts_app.connection import tie_repository
from rollouts_app.models import Repository, Workspace
from rollouts_app.sync.clients import app_client, cache_folder, client_for
from rollouts_app.sync.installations import store_installation
from tests import truth
from tests.conftest import FILES, receive
from tests.github_emulator import GitHubEmulator, records
from tests.github_emulator.mishaps import Held
from tests.sync_sequences.mortals import Mortals

# By the names they have in the beginning. The App is on the first two accounts.
ACCOUNTS = ("acme", "umbrella", "elsewhere")
REPOSITORIES = ("agents", "tools")
BRANCHES = ("main", "dev", "Dev", "dev/x;y#1")

EMPTY = (
    "rollouts_app_workspace, rollouts_app_installation, rollouts_app_webhookdelivery,"
    " procrastinate_jobs, procrastinate_workers, cache_entries"
)
# What is measured against the clock, by table.
TIMES = {
    "rollouts_app_repository": ("heads_checked_at", "trouble_since", "retry_at"),
    "rollouts_app_syncrun": ("requested_at",),
    "procrastinate_jobs": ("scheduled_at",),
    "procrastinate_workers": ("last_heartbeat",),
    "cache_entries": ("expires",),
}


class Step(Protocol):
    """One thing that happens."""

    def run(self, world: "World") -> None:
        """Let it happen; where it cannot happen now, nothing does."""


class Faults(logging.Handler):
    """Exceptions that were logged: where a worker or a thread keeps its own to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.met.append(self.format(record))


class World:
    """The emulator, our rows, and which commits each branch ever had."""

    def __init__(self, github: GitHubEmulator, mortals: Mortals) -> None:
        self.github = github
        self.mortals = mortals
        self.faults = Faults()
        self.lost_its_database = False
        self.has_lost_workers = False
        self.has_cancelled = False
        self.held: Held | None = None
        # Names of deliveries that GitHub knows by another one.
        self.extra: set[str] = set()
        # Which catalogs were seen to hold what their commits hold.
        self.verified: set[tuple[str, int]] = set()
        self._numbers = count(1)
        self._begin()

    def fresh(self) -> int:
        """A number never used before."""
        return next(self._numbers)

    def there(self, which: str) -> records.Repository:
        """GitHub's record of a repository."""
        return self.github.state.repositories[self.ids[which]]

    def name(self, which: str) -> str:
        """The full name it has now."""
        return self.github.state.full_name(self.there(which))

    def owner(self, which: str) -> str:
        """The login of the account it belongs to now."""
        return self.name(which).partition("/")[0]

    def login(self, account: str) -> str:
        """The login an account has now."""
        return self.github.state.accounts[self.accounts[account]].login

    def installation(self, account: str) -> int | None:
        """The number of the App's installation on an account."""
        found = self.github.installation_on(self.github.state.accounts[self.accounts[account]])
        return found.id if found else None

    def folder(self, which: str) -> Path:
        """Where git keeps the repository."""
        return self.github.bare(self.there(which)).folder

    def row(self, which: str) -> Repository:
        """Our row of the repository, as it is now."""
        return Repository.objects.select_related("installation").get(pk=self.rows[which])

    def had_by_pk(self, pk: int) -> dict[str, list[str]]:
        """The commits of each branch of one of our rows; an empty one where it was deleted."""
        return next(self.had[which] for which, row in self.rows.items() if row == pk)

    def note_heads(self) -> None:
        """Remember which commits branches have, to tell whether one we show was ever theirs."""
        for which in REPOSITORIES:
            heads = truth.heads(self.folder(which))
            for branch in set(self.had[which]) | set(heads):
                commits = self.had[which][branch]
                now = heads.get(branch, "")
                if not commits or commits[-1] != now:
                    commits.append(now)

    def release(self, seed: int | None = None) -> None:
        """Let deliveries that are late arrive, as they came or shuffled."""
        if self.held:
            self.held.release(seed=seed)
            self.held = None

    def let_time_pass(self, minutes: float) -> None:
        """Move all that was noted so far into the past."""
        with connection.cursor() as cursor:
            for table, columns in TIMES.items():
                moved = ", ".join(
                    f"{name} = {name} - %(by)s * interval '1 min'" for name in columns
                )
                cursor.execute(f"UPDATE {table} SET {moved}", {"by": minutes})  # noqa: S608

    @contextmanager
    def surviving(self) -> Iterator[None]:
        """A sync may fail inside when its session was ended."""
        try:
            yield
        except DatabaseError:
            if not self.lost_its_database:
                raise
        if self.lost_its_database:
            self.lost_its_database = False
            connections.close_all()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """What is logged with an exception meanwhile is a fault."""
        logging.getLogger().addHandler(self.faults)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self.faults)

    def end(self) -> None:
        """Leave nothing that the next world would pay for."""
        self.github.wait_for_deliveries()
        self.github.troubles.clear()
        for row in Repository.objects.all():
            shutil.rmtree(cache_folder(row), ignore_errors=True)
        connections.close_all()

    def _begin(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {EMPTY} CASCADE")
        github = self.github
        github.reset()
        github.deliver = None
        github.add_user("ada")
        self.accounts = {
            name: github.add_organization(name, owners=["ada"]).id for name in ACCOUNTS
        }
        self.ids = {
            name: github.create_repository(f"acme/{name}", files=FILES).id for name in REPOSITORIES
        }
        number = github.install("acme", repositories=[f"acme/{name}" for name in REPOSITORIES])
        github.install("umbrella")
        for branch in BRANCHES[1:3]:
            github.push("acme/agents", branch, {f"rollouts/{branch}/main.py": ""}, start="main")
        self.had: dict[str, dict[str, list[str]]] = {
            name: defaultdict(list) for name in REPOSITORIES
        }
        self.note_heads()
        installation = store_installation(app_client().installation(number))
        self.rows = {
            name: tie_repository(
                Workspace.objects.create(slug=name),
                installation,
                client_for(installation).repository(f"acme/{name}"),
            ).pk
            for name in REPOSITORIES
        }
        github.deliver = receive
