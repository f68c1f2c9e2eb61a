"""Events come late, doubled, at once and in any order: what GitHub has is what is shown."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connections, transaction

from rollouts_app.connection import connect_repository
from rollouts_app.models import Repository, SyncRun, User, WebhookDelivery, Workspace
from rollouts_app.sync import engine
from rollouts_app.sync.plan import take_up
from rollouts_app.sync.tasks import ring
from tests.conftest import Browser, receive
from tests.github_emulator import Delivery, GitHubEmulator
from tests.syncing import NAME, check_all, heads_shown, push_hint

pytestmark = pytest.mark.django_db


def test_a_late_older_push_changes_nothing(agents: Repository, github: GitHubEmulator) -> None:
    """W03"""
    engine.sync(agents.pk)
    older = github.push(NAME, "main", {"a": "1"})
    newer = github.push(NAME, "main", {"b": "1"})
    first, second = [made for made in github.deliveries if made.event == "push"][-2:]
    receive(second)
    engine.sync(agents.pk)
    receive(first)
    engine.sync(agents.pk)
    assert heads_shown(agents) == {"main": newer}
    late = agents.sync_runs.latest("pk")
    assert (late.state, late.commit == older) == ("success", False)
    assert late.reason == "Nothing changed: the branch already showed this commit."


def test_four_events_in_every_order_lead_to_the_same(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W04"""
    engine.sync(agents.pk)
    github.create_branch(NAME, "trunk", "main")
    commit = github.push(NAME, "trunk", {"a": "1"})
    github.edit_repository(NAME, default_branch="trunk", by="ada")
    github.rename_repository(NAME, "robots", by="ada")
    told = [made for made in github.deliveries if made.event in {"create", "push", "repository"}]
    events = [told[0], *told[-3:]]
    assert [made.event for made in events] == ["create", "push", "repository", "repository"]
    before = {"full_name": NAME, "default_branch": "main", "heads_digest": ""}
    for order in permutations(events):
        agents.branches.filter(name="trunk").delete()
        WebhookDelivery.objects.all().delete()
        Repository.objects.update(**before)
        for delivery in order:
            receive(delivery)
        engine.sync(agents.pk)
        agents.refresh_from_db()
        assert (agents.full_name, agents.default_branch) == ("acme/robots", "trunk")
        assert heads_shown(agents)["trunk"] == commit
        assert not agents.sync_runs.open().exists()


@pytest.mark.django_db(transaction=True)
def test_twins_at_once_leave_one_row(agents: Repository, github: GitHubEmulator) -> None:
    """W05"""
    github.push(NAME, "main", {"a": "1"})
    [delivery] = [made for made in github.deliveries if made.event == "push"]
    start = Barrier(4)

    def deliver(twin: Delivery) -> Any:
        start.wait()
        return in_its_own_session(receive, twin)

    with ThreadPoolExecutor(4) as threads:
        answers = sorted(threads.map(deliver, [delivery] * 4))
    assert answers == [200, 200, 200, 202]
    assert (WebhookDelivery.objects.count(), SyncRun.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_push_under_a_new_name_and_one_under_the_old_wait_for_each_other(
    agents: Repository, github: GitHubEmulator, empty_queue: None
) -> None:
    """W05: one brings news of the repository, and both are about one branch."""
    github.rename_repository(NAME, "robots", by="ada")
    github.push("acme/robots", "main", {"a": "1"})
    push = [made for made in github.deliveries if made.event == "push"][-1]
    answers: list[int] = []
    late = Thread(target=lambda: answers.append(in_its_own_session(receive, push)))
    with transaction.atomic():
        push_hint(agents, "main", "1" * 40)
        late.start()
        late.join(0.3)
        assert late.is_alive()
        ring(agents.pk)
    late.join(10)
    states = agents.sync_runs.order_by("pk").values_list("state", flat=True)
    assert (answers, list(states)) == ([202], ["superseded", "pending"])


@pytest.mark.django_db(transaction=True)
def test_a_push_and_the_work_of_a_dead_worker_wait_for_each_other(agents: Repository) -> None:
    push_hint(agents, "main", "1" * 40)
    take_up(agents)
    late = Thread(target=in_its_own_session, args=[take_up, agents])
    with transaction.atomic():
        agents.branches.select_for_update().get(name="main")
        late.start()
        late.join(0.3)
        assert late.is_alive()
        push_hint(agents, "main", "2" * 40)
    late.join(10)
    runs = agents.sync_runs.order_by("pk").values_list("commit", "state")
    assert list(runs) == [("1" * 40, "failed"), ("2" * 40, "syncing")]


def in_its_own_session(work: Callable[..., Any], *arguments: object) -> Any:
    """Do it in a thread, whose connections to the database end with it."""
    try:
        return work(*arguments)
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_the_webhook_of_the_installation_and_the_browser_start_one_first_sync(
    ada: User,
    acme: Workspace,
    browser_of: Browser,
    github: GitHubEmulator,
    work_off_the_queue: Callable[[], None],
) -> None:
    """W07"""
    github.create_repository(NAME, files={"rollouts/maths/main.py": "1"})
    browser_of(ada)
    number = github.install("acme", repositories=[NAME], by="ada")
    told = [made for made in github.deliveries if made.event == "installation"]
    receive(told[0])
    connect_repository(ada, acme, number, github.repository_named(NAME).id)
    receive(under_another_id(told[0]))
    before = len(github.requests)
    work_off_the_queue()
    calls = [seen.path for seen in github.requests[before:] if seen.path.startswith("/api/")]
    # The worker's timer may begin to look for lost deliveries meanwhile.
    ours = [path for path in calls if not path.startswith("/api/v3/app/hook/")]
    assert [path.rstrip("0123456789") for path in ours] == [
        f"/api/v3/app/installations/{number}/access_tokens",
        "/api/v3/repositories/",
    ]
    assert list(SyncRun.objects.values_list("trigger", "state")) == [("connected", "success")]


def under_another_id(delivery: Delivery) -> Delivery:
    """The same news under another id."""
    return replace(
        delivery, headers={**delivery.headers, "X-GitHub-Delivery": f"{delivery.id}-again"}
    )


def test_a_force_push_is_told_as_one(agents: Repository, github: GitHubEmulator) -> None:
    """W13"""
    engine.sync(agents.pk)
    old = github.heads(NAME)["main"]
    new = github.replace(NAME, "main", {"rollouts/fresh/main.py": "1"})
    push = [made for made in github.deliveries if made.event == "push"][-1]
    assert (push.payload["forced"], receive(push)) == (True, 202)
    engine.sync(agents.pk)
    run = agents.sync_runs.latest("pk")
    assert (run.state, run.commit, run.replaced_commit) == ("success", new, old)
    assert heads_shown(agents) == {"main": new}


def test_a_newer_push_takes_the_place_of_one_that_waits(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W09"""
    engine.sync(agents.pk)
    github.deliver = receive
    github.push(NAME, "main", {"a": "1"})
    newer = github.push(NAME, "main", {"b": "1"})
    github.wait_for_deliveries()
    engine.sync(agents.pk)
    runs = agents.sync_runs.order_by("pk").values_list("state", "reason")
    assert list(runs)[1:] == [
        ("superseded", "A newer push to this branch came first."),
        ("success", ""),
    ]
    assert heads_shown(agents) == {"main": newer}


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "not told"])
def test_a_branch_deleted_and_made_again_is_there(
    agents: Repository, github: GitHubEmulator, is_told: object
) -> None:
    """W10, W12"""
    engine.sync(agents.pk)
    github.deliver = receive if is_told else None
    github.create_branch(NAME, "feature/x", "main")
    github.wait_for_deliveries()
    check_all(agents)
    github.delete_branch(NAME, "feature/x")
    github.wait_for_deliveries()
    check_all(agents)
    tombstone = agents.branches.get(name="feature/x")
    assert (tombstone.deleted_at is None, tombstone.catalog is None) == (False, False)
    commit = github.push(NAME, "feature/x", {"again": "1"}, start="main")
    github.wait_for_deliveries()
    check_all(agents)
    assert heads_shown(agents)["feature/x"] == commit
