"""When GitHub refuses, limits or fails, or a worker dies: the last good catalogs stay."""

import threading
from datetime import timedelta

import pytest
from django.db import connections
from django.utils.timezone import now

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from rollouts_app.sync.locks import repository_lock
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, check_all, heads_shown, names_on, push_hint

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_takes_up_what_a_dead_worker_left(agents: Repository) -> None:
    engine.sync(agents.pk)
    run = push_hint(agents, "main")
    SyncRun.objects.filter(pk=run.pk).update(state="syncing", started_at=now())
    newer = push_hint(agents, "main")
    engine.sync(agents.pk)
    run.refresh_from_db()
    newer.refresh_from_db()
    assert (run.state, newer.state) == ("superseded", "success")


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
