"""The worker as a process: it hears at once, and its death costs nothing."""

import signal
import subprocess
from collections.abc import Callable, Iterator

import pytest
from django.db import connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper

from rollouts_app.models import Catalog, Repository, RolloutVersion, SyncRun
from rollouts_app.sync.manual import check_now
from rollouts_app.sync.plan import WORKER_LOST
from tests.github_emulator import GitHubEmulator
from tests.waiting import wait_until
from tests.workers import start_worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts workers; none outlives the test."""
    workers: list[subprocess.Popen[bytes]] = []

    def one_more() -> "subprocess.Popen[bytes]":
        workers.append(start_worker())
        return workers[-1]

    yield one_more
    for worker in workers:
        worker.kill()
        worker.wait()


def is_synced(repository: Repository, github: GitHubEmulator) -> bool:
    shown = dict(repository.branches.existing().values_list("name", "commit"))
    return shown == github.heads(repository.full_name)


def test_it_ends_in_success_though_a_worker_was_killed_in_mid_sync(
    agents: Repository, github: GitHubEmulator, start: Start
) -> None:
    slow = github.trouble("/acme/agents.git/git-upload-pack", delay=5)
    first = start()
    wait_until(lambda: SyncRun.objects.filter(state="syncing").exists())
    first.kill()
    slow.end()
    start()
    wait_until(lambda: is_synced(agents, github), seconds=30)
    wait_until(lambda: not SyncRun.objects.open().exists())
    runs = SyncRun.objects.order_by("pk").values_list("branch__name", "state", "reason")
    assert list(runs) == [("main", "failed", WORKER_LOST), ("main", "success", "")]
    assert (Catalog.objects.count(), RolloutVersion.objects.count()) == (1, 2)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_told_to(start: Start, how: signal.Signals) -> None:
    worker = start()
    wait_until(has_registered)
    worker.send_signal(how)
    assert worker.wait(10) == 0


def test_it_exits_when_it_no_longer_hears_of_jobs(start: Start) -> None:
    worker = start()
    wait_until(has_registered)
    end_other_sessions()
    assert worker.wait(10) == 1
    # Our own pool lost its sessions, too: start a new one.
    ours = connections["default"]
    assert isinstance(ours, DatabaseWrapper)
    ours.close()
    ours.close_pool()


def test_it_hears_of_a_push_at_once(
    agents: Repository, github: GitHubEmulator, start: Start
) -> None:
    start()
    wait_until(lambda: is_synced(agents, github))
    github.push("acme/agents", "main", {"rollouts/new/main.py": "…"})
    check_now(agents)
    wait_until(lambda: is_synced(agents, github), seconds=2)


def has_registered() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
        return bool(cursor.fetchone()[0])


def end_other_sessions() -> None:
    """What a restart of the database does to everybody else."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
