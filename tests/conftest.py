"""The cast, the world and the queue. Ada owns Acme, Linus is a member, Mallory is outside."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from rollouts_app.accounts import keep_user_token
from rollouts_app.connection import tie_repository
from rollouts_app.models import Installation, Membership, Repository, User, Workspace
from rollouts_app.sync import engine
from rollouts_app.sync.clients import app_client, client_for
from rollouts_app.sync.installations import store_installation
from tests.github_emulator import Delivery, GitHubEmulator
from tests.pages import Page, page_of
from tests.settings import EMULATOR
from tests.waiting import wait_until
from tests.workers import start_worker, work_off

Browser = Callable[[User], Client]
Read = Callable[..., Page]

# A shell that starts us in the background has us ignore Ctrl-C, and so would all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A repository's contents, small: two rollouts, one of them with an eval config.
FILES = {
    "rollouts/maths/main.py": "print('maths')\n",
    "rollouts/maths/pyproject.toml": '[project]\nname = "maths"\ndescription = "Sums."\n',
    "rollouts/search/README.md": "# Search\n\nFinds things. And more.\n",
    "configs/eval/maths.toml": (
        '[experiment]\nrollout = "maths"\nentrypoint = "main.py"\n'
        'model_path = "openai/gpt-5-mini"\ndataset = "sums"\n\n[secrets]\nrequired = []\n'
    ),
}


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """The flush between tests empties all tables, which the audit log would refuse."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE rollouts_app_auditevent DISABLE TRIGGER audit_events_are_not_truncated"
        )


@pytest.fixture(scope="session")
def running_emulator() -> Iterator[GitHubEmulator]:
    with EMULATOR as emulator:
        yield emulator


@pytest.fixture
def github(running_emulator: GitHubEmulator) -> Iterator[GitHubEmulator]:
    """An emulator with Acme and its people; nothing is delivered unless a test asks for it."""
    github = running_emulator
    github.reset()
    github.deliver = keep_only
    github.add_user("ada", name="Ada Lovelace", email="ada@acme.example")
    github.add_user("linus", name="Linus T", email="linus@acme.example")
    github.add_user("mallory", name="Mallory", email="mallory@elsewhere.example")
    github.add_organization("acme", owners=["ada"], members=["linus"])
    yield github
    github.wait_for_deliveries()


def keep_only(delivery: Delivery) -> int:
    """Nobody hears of a delivery; it can be looked up and handed over later."""
    return 202


def make_person(github: GitHubEmulator, login: str) -> User:
    """Somebody who has signed in before."""
    facts = github.account_named(login)
    return User.objects.create(
        username=login, github_id=facts.id, github_login=login, name=facts.name
    )


@pytest.fixture
def ada(db: None, github: GitHubEmulator) -> User:
    return make_person(github, "ada")


@pytest.fixture
def linus(db: None, github: GitHubEmulator) -> User:
    return make_person(github, "linus")


@pytest.fixture
def mallory(db: None, github: GitHubEmulator) -> User:
    return make_person(github, "mallory")


@pytest.fixture
def browser_of(github: GitHubEmulator) -> Browser:
    """A browser in which somebody has just signed in."""

    def of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        keep_user_token(user.github_id or 0, github.user_token(user.github_login))
        return client

    return of


@pytest.fixture
def acme(ada: User, linus: User) -> Workspace:
    """A workspace without a repository."""
    workspace = Workspace.objects.create(slug="acme")
    for user, role in ((ada, Membership.Role.OWNER), (linus, Membership.Role.MEMBER)):
        Membership.objects.create(workspace=workspace, user=user, role=role)
    return workspace


@pytest.fixture
def installation(db: None, github: GitHubEmulator) -> Installation:
    """The App on Acme's account, with `acme/agents`, whose main branch holds FILES."""
    github.create_repository("acme/agents", files=FILES)
    number = github.install("acme", repositories=["acme/agents"], by="ada")
    return store_installation(app_client().installation(number))


@pytest.fixture
def agents(acme: Workspace, installation: Installation) -> Repository:
    """`acme/agents`, connected to Acme and not yet synced. GitHub lets Acme's people read it."""
    facts = client_for(installation).repository("acme/agents")
    repository = tie_repository(acme, installation, facts)
    acme.memberships.update(
        may_read=True, asked_about=repository.pk, ask_again_at=now() + timedelta(minutes=15)
    )
    return repository


@pytest.fixture
def synced(agents: Repository) -> Repository:
    """`acme/agents`, its main branch on show."""
    engine.sync(agents.pk)
    agents.refresh_from_db()
    return agents


@pytest.fixture
def empty_queue(db: None) -> Iterator[None]:
    """Procrastinate's tables, which the flush between tests leaves alone, start and end empty."""
    truncate_queue()
    yield
    truncate_queue()


def truncate_queue() -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")


@pytest.fixture
def work_off_the_queue(transactional_db: None, empty_queue: None) -> Callable[[], None]:
    """A real worker that works off what waits now."""
    return work_off


def receive(delivery: Delivery) -> int:
    """Hand one delivery to the webhook's door; the status it answers."""
    response = Client().post(
        "/webhooks/github",
        delivery.body,
        content_type="application/json",
        headers=delivery.headers,
    )
    return response.status_code


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium. Without it browser tests are skipped, or fail where they must run."""
    path = shutil.which("chromium")
    if path is None:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up("Chromium is not installed: on Debian, apt install chromium.")
    arguments = ["--disable-background-networking", "--disable-component-update"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": path, "args": arguments}


def nobody_is_at_work() -> bool:
    """Whether no other connection to the database is in the middle of something."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle')"
        )
        return bool(cursor.fetchone()[0])


@pytest.fixture
def live(live_server: LiveServer, github: GitHubEmulator, empty_queue: None) -> Iterator[str]:
    """The whole product, running: its address. The emulator delivers its webhooks to it."""
    github.deliver = github.outbox.post
    worker = start_worker()
    yield live_server.url
    worker.kill()
    worker.wait()
    # What either was at holds tables that are emptied next.
    wait_until(nobody_is_at_work)


@pytest.fixture
def read(ada: User) -> Read:
    """Opens an address as Ada; or the part of it that htmx gets."""

    def open_address(address: str, *, part: bool = False) -> Page:
        client = Client()
        client.force_login(ada)
        return page_of(client.get(address, headers={"HX-Request": "true"} if part else {}))

    return open_address


@contextmanager
def counted_queries() -> Iterator[CaptureQueriesContext]:
    with CaptureQueriesContext(connection) as queries:
        yield queries
