"""When GitHub refuses, limits or fails, or a worker dies: the last good catalogs stay."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils.timezone import now

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from rollouts_app.sync.locks import repository_lock
from rollouts_app.sync.plan import WORKER_LOST, take_up
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, check_all, heads_shown, names_on, push_hint
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("newer", "attempts"), [([], 2), (["2" * 40], 1)], ids=["alone", "push"])
def test_it_ends_what_a_dead_worker_left_and_begins_anew(
    agents: Repository, newer: list[str], attempts: int
) -> None:
    """W08"""
    engine.sync(agents.pk)
    run = push_hint(agents, "main", "1" * 40)
    SyncRun.objects.filter(pk=run.pk).update(state="syncing", started_at=now(), attempts=1)
    for commit in newer:
        push_hint(agents, "main", commit)
    engine.sync(agents.pk)
    lost, again = agents.sync_runs.filter(pk__gte=run.pk).order_by("pk")
    assert (lost.state, lost.reason) == ("failed", WORKER_LOST)
    assert (again.state, again.trigger, again.attempts) == ("success", "push", attempts)


@pytest.mark.parametrize("known", ["", "1" * 40], ids=["branch created", "other push"])
def test_a_push_told_of_while_github_answers_gets_a_run_of_its_own(
    agents: Repository, github: GitHubEmulator, known: str
) -> None:
    check_all(agents)
    waiting = push_hint(agents, "main", known)
    take_up(agents)
    commit = github.push(NAME, "main", {"late": "1"})
    late = push_hint(agents, "main", commit)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.commit, late.state) == ("syncing", known, "pending")
    engine.sync(agents.pk)
    late.refresh_from_db()
    assert (late.state, heads_shown(agents)) == ("success", {"main": commit})


def test_a_refusal_leaves_what_was_asked_for_after_it(
    agents: Repository, github: GitHubEmulator
) -> None:
    check_all(agents)
    run = push_hint(agents, "main")
    # With the kept token and with a new one.
    refused = github.trouble("/acme/agents.git", status=403, delay=1, times=1)
    github.trouble("/acme/agents.git", status=403, times=1)
    syncing = threading.Thread(target=sync_and_disconnect, args=[agents.pk])
    syncing.start()
    wait_until(lambda: refused.met)
    commit = github.push(NAME, "main", {"one": "1"})
    later = push_hint(agents, "main", commit)
    agents.request_full_check()
    syncing.join(20)
    run.refresh_from_db()
    later.refresh_from_db()
    assert (run.state, later.state, heads_shown(agents)) == ("failed", "success", {"main": commit})


def sync_and_disconnect(repository_id: int) -> None:
    engine.sync(repository_id)
    connections.close_all()


def test_it_leaves_a_repository_that_somebody_else_syncs(agents: Repository) -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with repository_lock(agents.pk):
            held.set()
            done.wait(10)
        connections.close_all()

    other = threading.Thread(target=hold)
    other.start()
    held.wait(10)
    again_at = engine.sync(agents.pk)
    done.set()
    other.join()
    assert again_at is not None
    assert agents.sync_runs.count() == 0


def test_it_waits_out_a_rate_limit(agents: Repository, github: GitHubEmulator) -> None:
    check_all(agents)
    github.push(NAME, "main", {"one": "1"})
    run = push_hint(agents, "main")
    github.trouble("/acme/agents.git", status=429, headers={"Retry-After": "120"})
    again_at = engine.sync(agents.pk)
    agents.refresh_from_db()
    run.refresh_from_db()
    assert again_at
    assert again_at == agents.retry_at
    assert timedelta(seconds=100) < again_at - now() < timedelta(seconds=121)
    assert (agents.trouble, run.state) == ("rate limited", "pending")
    assert names_on(agents, "main") == ["maths", "search"]


def test_it_asks_nothing_while_it_is_limited(agents: Repository, github: GitHubEmulator) -> None:
    check_all(agents)
    push_hint(agents, "main")
    limit = github.trouble("/acme/agents.git", status=429, headers={"Retry-After": "120"})
    until = engine.sync(agents.pk)
    limit.end()
    commit = github.push(NAME, "main", {"one": "1"})
    run = push_hint(agents, "main", commit)
    before = len(github.requests)
    assert engine.sync(agents.pk) == until
    assert len(github.requests) == before
    Repository.objects.update(retry_at=now())
    assert engine.sync(agents.pk) is None
    run.refresh_from_db()
    assert (run.state, heads_shown(agents)) == ("success", {"main": commit})


def test_it_tries_again_after_an_outage(agents: Repository, github: GitHubEmulator) -> None:
    check_all(agents)
    commit = github.push(NAME, "main", {"one": "1"})
    run = push_hint(agents, "main", commit)
    github.trouble("/acme/agents.git", status=503, times=1)
    assert engine.sync(agents.pk) is not None
    agents.refresh_from_db()
    assert agents.trouble == "unavailable"
    assert engine.sync(agents.pk) is None
    agents.refresh_from_db()
    run.refresh_from_db()
    assert (agents.trouble, run.state, heads_shown(agents)) == ("", "success", {"main": commit})


def test_it_ends_runs_when_the_app_is_refused(agents: Repository, github: GitHubEmulator) -> None:
    check_all(agents)
    run = push_hint(agents, "main")
    agents.request_full_check()
    github.suspend(agents.installation.github_id)
    assert engine.sync(agents.pk) is None
    agents.refresh_from_db()
    run.refresh_from_db()
    assert (agents.trouble, run.state) == ("denied", "failed")
    assert agents.full_check_requested_at is None
    assert run.reason == agents.trouble_reason
    assert names_on(agents, "main") == ["maths", "search"]


def test_it_asks_for_a_new_token_when_the_kept_one_is_refused(
    agents: Repository, github: GitHubEmulator
) -> None:
    check_all(agents)
    commit = github.push(NAME, "main", {"one": "1"})
    github.expire_tokens()
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})


@pytest.fixture
def deadlocks() -> Iterator[Callable[[], None]]:
    """Every move of a branch is the victim of a deadlock, until the function given is called."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER deadlock BEFORE UPDATE ON rollouts_app_branch "
            "FOR EACH ROW EXECUTE FUNCTION deadlock()"
        )

    def end() -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION IF EXISTS deadlock CASCADE")

    yield end
    end()


def test_it_blames_no_commit_for_trouble_with_our_database(
    agents: Repository, github: GitHubEmulator, deadlocks: Callable[[], None]
) -> None:
    again_at = engine.sync(agents.pk)
    assert again_at is not None
    assert list(agents.sync_runs.values_list("state", flat=True)) == ["pending"]
    deadlocks()
    engine.sync(agents.pk)
    assert list(agents.sync_runs.values_list("state", flat=True)) == ["success"]
    assert heads_shown(agents) == github.heads(NAME)
