"""Disconnect and delete: no row is left, whoever works beside."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from rollouts_app.connection import delete_kept, disconnect, disconnect_and_delete, tie_repository
from rollouts_app.models import (
    Branch,
    Installation,
    Repository,
    User,
    Workspace,
)
from rollouts_app.refusals import NotPossible
from rollouts_app.sync import engine
from rollouts_app.sync.clients import client_for
from rollouts_app.sync.upkeep import finish_disconnections
from tests.conftest import receive
from tests.connection import in_another_thread, rows, rows_of, tie
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, names_on, push_hint
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


# Others at work beside us: they see what is committed.
BESIDE_OTHERS = pytest.mark.django_db(transaction=True)


def make_neighbour(repository: Repository, github: GitHubEmulator) -> None:
    """Another workspace, with a repository that was synced."""
    github.create_repository("acme/bots", files={"rollouts/bot/main.py": "1"})
    number = repository.installation.github_id
    github.add_repositories(number, ["acme/bots"], by="ada")
    facts = client_for(repository.installation).repository("acme/bots")
    workspace = Workspace.objects.create(slug="bots")
    neighbour = tie_repository(workspace, repository.installation, facts)
    engine.sync(neighbour.pk)


def test_it_deletes_all_that_was_stored_of_a_repository_and_nothing_else(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    """R10: disconnect with delete leaves no rollout, history or log row."""
    make_neighbour(synced, github)
    github.deliver = receive
    github.push(NAME, "feature/x", {"rollouts/maths/main.py": "2"})
    github.wait_for_deliveries()
    engine.sync(synced.pk)
    assert rows()["WebhookDelivery"] > 0
    disconnect_and_delete(ada, synced)
    assert rows_of(synced) == 0
    assert rows() == {
        "AuditEvent": 1,
        "User": 2,
        "Workspace": 2,
        "WorkspaceSlug": 2,
        "Membership": 2,
        "Installation": 1,
        "Repository": 1,
        "RepositoryName": 1,
        "Branch": 1,
        "Catalog": 1,
        "Rollout": 1,
        "RolloutVersion": 1,
        "SyncRun": 1,
    }


@BESIDE_OTHERS
def test_a_sync_that_is_running_ends_before_its_rows_are_deleted(
    ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    """R10: what a sync writes after somebody pressed delete goes as well."""
    slow = github.trouble("/acme/agents.git", delay=1, times=1)
    github.push(NAME, "main", {"rollouts/late/main.py": "1"})
    synced.request_full_check()
    syncing = in_another_thread(lambda: engine.sync(synced.pk))
    wait_until(lambda: slow.met)
    disconnect_and_delete(ada, synced)
    synced.refresh_from_db()
    assert synced.deletion_requested_at is not None
    workspace = Workspace.objects.get(slug="acme")
    assert (workspace.repository, list(workspace.kept_repositories())) == (None, [])
    with pytest.raises(NotPossible, match="is still being deleted"):
        tie(synced)
    syncing.join(20)
    assert names_on(synced, "main") == ["late", "maths", "search"]
    finish_disconnections(0)
    assert rows_of(synced) == 0


def is_held_up() -> bool:
    """Whether somebody waits for another's lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        [waiting] = cursor.fetchone()
    return bool(waiting)


@BESIDE_OTHERS
def test_a_delivery_beside_the_deletion_leaves_no_row(ada: User, synced: Repository) -> None:
    """R10: a push that is being taken in while somebody deletes, after one that waits."""
    push_hint(synced, "main", "1" * 40)
    with transaction.atomic():
        synced.branches.select_for_update().get(name="main")
        deleting = in_another_thread(lambda: disconnect_and_delete(ada, synced))
        wait_until(is_held_up)
        push_hint(synced, "main", "2" * 40)
    deleting.join(20)
    assert rows_of(synced) == 0


@BESIDE_OTHERS
def test_a_new_branch_beside_the_deletion_leaves_no_row(ada: User, synced: Repository) -> None:
    """R10: one that the deletion could not see."""
    disconnect(ada, synced)
    with transaction.atomic():
        Branch.objects.create(repository=synced, name="late")
        # Holds up the deletion once it has passed the branches.
        list(synced.rollouts.select_for_update())
        deleting = in_another_thread(lambda: delete_kept(ada, synced))
        wait_until(is_held_up)
    deleting.join(20)
    assert rows_of(synced) > 0
    finish_disconnections(0)
    assert rows_of(synced) == 0


@BESIDE_OTHERS
def test_a_delivery_that_comes_after_the_deletion_is_refused(ada: User, synced: Repository) -> None:
    def take_in() -> None:
        with transaction.atomic():
            Branch.objects.create(repository=synced, name="late")
            in_another_thread(lambda: disconnect_and_delete(ada, synced)).join(20)

    with pytest.raises(IntegrityError):
        take_in()
    assert rows_of(synced) == 0


def test_five_thousand_branches_are_deleted_in_seconds(
    ada: User, acme: Workspace, installation: Installation
) -> None:
    repository = Repository.objects.create(
        workspace=acme, installation=installation, github_id=1, full_name=NAME
    )
    with connection.cursor() as cursor:
        for statement in MANY_ROWS:
            cursor.execute(statement, [repository.pk])
    began = now()
    disconnect_and_delete(ada, repository)
    assert rows_of(repository) == 0
    assert (now() - began).total_seconds() < 10


MANY_ROWS = (
    """
    INSERT INTO rollouts_app_catalog (repository_id, rollouts_tree, configs_tree, versions,
        configs, problems, problem_count, created_at)
    SELECT %s, number, '', '{}', '{}', '[]', 0, now() FROM generate_series(1, 5000) AS number
    """,
    """
    INSERT INTO rollouts_app_branch (repository_id, name, commit, catalog_id, withheld)
    SELECT repository_id, id, 'c', id, '' FROM rollouts_app_catalog WHERE repository_id = %s
    """,
    """
    INSERT INTO rollouts_app_syncrun (repository_id, branch_id, catalog_before_id,
        catalog_after_id, state, trigger, commit, reason, pusher, author, subject,
        replaced_commit, is_new_branch, requested_at, finished_at, attempts)
    SELECT repository_id, branch.id, catalog_id, catalog_id, 'success', 'push', 'c', '', '', '',
        '', '', false, now(), now(), 1
    FROM rollouts_app_branch AS branch, generate_series(1, 4) WHERE repository_id = %s
    """,
)
