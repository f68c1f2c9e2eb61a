"""Disconnect and keep, and connect again: what becomes of the rows."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.utils.timezone import now

from rollouts_app.connection import delete_kept, disconnect, disconnect_and_delete, tie_repository
from rollouts_app.models import (
    Membership,
    Repository,
    SyncRun,
    User,
    Workspace,
)
from rollouts_app.refusals import NotPossible
from rollouts_app.sync import engine, removal
from rollouts_app.sync.clients import client_for
from rollouts_app.sync.upkeep import finish_disconnections
from tests.conftest import receive
from tests.connection import in_another_thread, rows, rows_of, tie
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, heads_shown, names_on, push_hint
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


# Others at work beside us: they see what is committed.
BESIDE_OTHERS = pytest.mark.django_db(transaction=True)


def test_it_keeps_everything_out_of_sight(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    waiting = push_hint(synced, "main", "1" * 40)
    synced.request_full_check()
    before = rows_of(synced)
    disconnect(ada, synced)
    synced.refresh_from_db()
    waiting.refresh_from_db()
    assert rows_of(synced) == before
    assert synced.disconnected_at is not None
    assert synced.full_check_requested_at is None
    assert (waiting.state, waiting.reason) == ("superseded", "The repository was disconnected.")
    assert Workspace.objects.get(slug="acme").repository is None


@BESIDE_OTHERS
def test_nothing_is_synced_after_it(
    ada: User, synced: Repository, github: GitHubEmulator, work_off_the_queue: Callable[[], None]
) -> None:
    shown = heads_shown(synced)
    disconnect(ada, synced)
    github.deliver = receive
    github.push(NAME, "main", {"late": "1"})
    github.wait_for_deliveries()
    asked = len(github.requests)
    work_off_the_queue()
    assert engine.sync(synced.pk) is None
    assert len(github.requests) == asked
    assert heads_shown(synced) == shown
    assert not SyncRun.objects.open().exists()


def test_it_returns_with_its_history_and_looks_at_all_branches(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    disconnect(ada, synced)
    commit = github.push(NAME, "main", {"rollouts/new/main.py": "1"})
    github.create_branch(NAME, "feature/x", "main")
    again = tie(synced)
    assert (again.pk, again.disconnected_at, again.heads_checked_at) == (synced.pk, None, None)
    assert again.sync_runs.first_sync_progress() == (0, 0)
    engine.sync(again.pk)
    assert heads_shown(again) == {"main": commit, "feature/x": commit}
    assert names_on(again, "main") == ["maths", "new", "search"]
    triggers = again.sync_runs.values_list("branch__name", "trigger")
    assert sorted(triggers) == [
        ("feature/x", "connected"),
        ("main", "connected"),
        ("main", "connected"),
    ]
    assert again.sync_runs.first_sync_progress() == (2, 2)


def test_it_forgets_an_old_trouble_when_it_returns(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    synced.note_trouble("rate limited", "Slowly.", retry_at=now())
    disconnect(ada, synced)
    again = tie(synced)
    assert (again.trouble, again.trouble_reason, again.retry_at) == ("", "", None)


def test_another_repository_gets_a_row_beside_the_kept_one(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    github.create_repository("acme/bots")
    github.add_repositories(synced.installation.github_id, ["acme/bots"], by="ada")
    facts = client_for(synced.installation).repository("acme/bots")
    with pytest.raises(NotPossible, match=r"this one has acme/agents\. Disconnect that first"):
        tie_repository(synced.workspace, synced.installation, facts)
    disconnect(ada, synced)
    bots = tie_repository(synced.workspace, synced.installation, facts)
    workspace = Workspace.objects.get(slug="acme")
    assert workspace.repository == bots
    assert list(workspace.kept_repositories()) == [synced]
    with pytest.raises(NotPossible, match=r"this one has acme/bots\. Disconnect that first"):
        tie(synced)


def test_what_one_workspace_keeps_another_may_connect(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    disconnect(ada, synced)
    other = Workspace.objects.create(slug="other")
    Membership.objects.create(workspace=other, user=ada, role=Membership.Role.OWNER)
    facts = client_for(synced.installation).repository(NAME)
    there = tie_repository(other, synced.installation, facts)
    assert there.pk != synced.pk
    with pytest.raises(NotPossible, match="a repository belongs to one workspace"):
        tie(synced)
    disconnect(ada, there)
    assert tie(synced).pk == synced.pk


@BESIDE_OTHERS
def test_two_who_connect_it_again_at_once_share_one_row(ada: User, synced: Repository) -> None:
    disconnect(ada, synced)
    barrier = threading.Barrier(4)

    def choose(_number: int) -> int:
        barrier.wait(10)
        try:
            return tie(synced).pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as people:
        assert list(people.map(choose, range(4))) == [synced.pk] * 4
    assert rows()["Repository"] == 1


def test_each_step_twice_is_once(ada: User, synced: Repository) -> None:
    disconnect(ada, synced)
    synced.refresh_from_db()
    first = synced.disconnected_at
    disconnect(ada, synced)
    disconnect_and_delete(ada, synced)
    synced.refresh_from_db()
    assert (synced.disconnected_at, synced.deletion_requested_at) == (first, None)
    tie(synced)
    delete_kept(ada, synced)
    synced.refresh_from_db()
    assert (synced.disconnected_at, synced.deletion_requested_at) == (None, None)
    disconnect(ada, synced)
    for _ in range(2):
        delete_kept(ada, synced)
    assert rows_of(synced) == 0


@BESIDE_OTHERS
def test_a_sync_that_is_running_ends_by_itself_when_its_work_is_kept(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    slow = github.trouble("/acme/agents.git", delay=1, times=1)
    commit = github.push(NAME, "main", {"rollouts/late/main.py": "1"})
    run = push_hint(synced, "main", commit)
    syncing = in_another_thread(lambda: engine.sync(synced.pk))
    wait_until(lambda: slow.met)
    disconnect(ada, synced)
    later = push_hint(synced, "other")
    syncing.join(20)
    finish_disconnections(0)
    run.refresh_from_db()
    later.refresh_from_db()
    assert (run.state, later.state) == ("success", "superseded")
    assert removal.repositories_to_finish() == []


def test_the_timer_leaves_what_was_connected_again(ada: User, synced: Repository) -> None:
    disconnect(ada, synced)
    tie(synced)
    run = push_hint(synced, "main")
    assert removal.finish(synced.pk)
    run.refresh_from_db()
    assert run.state == "pending"
