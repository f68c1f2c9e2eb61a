"""Deliveries that never came: the timer finds what they told of, and GitHub repeats them once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils.timezone import now

from rollouts_app.errors import RateLimited
from rollouts_app.models import Repository, WebhookDelivery
from rollouts_app.sync import engine, hearing, reconcile, upkeep
from rollouts_app.sync.manual import check_now
from tests.conftest import receive
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, check_all, heads_shown, push_hint

pytestmark = pytest.mark.django_db

ASKED = "It did not reach this server. GitHub was asked to deliver it again."


@pytest.fixture(autouse=True)
def nothing_read() -> None:
    """GitHub's list was never read."""
    cache.clear()


def history(repository: Repository) -> list[tuple[str, str]]:
    return list(repository.sync_runs.order_by("pk").values_list("branch__name", "trigger"))


def let_an_interval_pass() -> None:
    Repository.objects.update(heads_checked_at=now() - timedelta(hours=1))


def test_the_timer_finds_what_no_webhook_told_of(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W01, W14: GitHub announces nothing when many branches are pushed at once."""
    engine.sync(agents.pk)
    github.deliver = None
    for number in range(6):
        github.create_branch(NAME, f"bulk/{number}", "main")
    assert reconcile.repositories_due() == []
    let_an_interval_pass()
    assert reconcile.repositories_due() == [agents.pk]
    engine.sync(agents.pk)
    assert heads_shown(agents) == github.heads(NAME)
    assert history(agents) == [
        ("main", "connected"),
        *((f"bulk/{number}", "recovered") for number in range(6)),
    ]


def test_a_way_back_that_nobody_told_of_is_found(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W01: after pushes that were told of, all heads are again as the last full check saw them."""
    engine.sync(agents.pk)
    before = github.heads(NAME)
    github.deliver = receive
    github.push(NAME, "main", {"one": "more"})
    github.create_branch(NAME, "dev", "main")
    github.wait_for_deliveries()
    engine.sync(agents.pk)
    assert heads_shown(agents) == github.heads(NAME) != before
    github.deliver = None
    github.move_branch(NAME, "main", before["main"])
    github.delete_branch(NAME, "dev")
    let_an_interval_pass()
    assert reconcile.repositories_due() == [agents.pk]
    engine.sync(agents.pk)
    assert heads_shown(agents) == before


def test_a_webhook_that_comes_after_all_ends_the_talk_of_loss(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    held = github.hold_deliveries()
    github.deliver = receive
    github.push(NAME, "main", {"late": "1"}, author="ada")
    check_all(agents)
    assert history(agents)[1:] == [("main", "recovered")]
    held.release()
    github.wait_for_deliveries()
    run = agents.sync_runs.latest("pk")
    assert (run.trigger, run.pusher) == ("push", "ada")
    assert run.reason == "The timer had found this commit before its webhook came."
    assert WebhookDelivery.objects.get().run == run


def test_it_has_lost_deliveries_repeated_once(agents: Repository, github: GitHubEmulator) -> None:
    """W02: a push of ours, another's, and one that came by itself meanwhile."""
    engine.sync(agents.pk)
    github.deliver = receive
    github.create_repository("acme/other", files={"a": "b"})
    github.add_repositories(agents.installation.github_id, ["acme/other"], by="ada")
    github.wait_for_deliveries()
    cache.clear()
    failing = github.fail_deliveries("push", times=3)
    github.push("acme/other", "main", {"not": "ours"})
    github.push(NAME, "main", {"first": "1"})
    commit = github.push(NAME, "main", {"second": "1"})
    assert failing.times == 0
    assert hearing.ask_for_lost_deliveries() == 2
    rows = WebhookDelivery.objects.filter(event="push")
    assert (
        list(rows.values_list("is_received", "outcome", "repository"))
        == [(False, ASKED, agents.pk)] * 2
    )
    github.wait_for_deliveries()
    assert (
        list(rows.order_by("pk").values_list("is_received", "outcome"))
        == [
            (True, "Sync of branch main asked for."),
        ]
        * 2
    )
    engine.sync(agents.pk)
    assert heads_shown(agents) == {"main": commit}
    cache.clear()
    assert hearing.ask_for_lost_deliveries() == 0


def test_it_asks_only_once_though_it_is_lost_again(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.deliver = receive
    github.fail_deliveries("push")
    github.push(NAME, "main", {"lost": "1"})
    assert [hearing.ask_for_lost_deliveries() for _ in range(2)] == [1, 0]
    github.wait_for_deliveries()
    cache.clear()
    assert hearing.ask_for_lost_deliveries() == 0
    assert [delivery.event for delivery in github.deliveries].count("push") == 2


def test_it_leaves_what_came_on_a_second_try(agents: Repository, github: GitHubEmulator) -> None:
    """Somebody pressed Redeliver at GitHub."""
    engine.sync(agents.pk)
    github.deliver = receive
    github.fail_deliveries("push", times=1)
    github.push(NAME, "main", {"lost": "1"})
    github.wait_for_deliveries()
    [failed] = [delivery for delivery in github.deliveries if delivery.event == "push"]
    github.redeliver(failed.number)
    github.wait_for_deliveries()
    assert hearing.ask_for_lost_deliveries() == 0


def test_a_limit_leaves_the_rest_for_later(agents: Repository, github: GitHubEmulator) -> None:
    engine.sync(agents.pk)
    github.deliver = receive
    github.fail_deliveries("push", times=2)
    for number in range(2):
        github.push(NAME, "main", {"lost": str(number)})
    github.wait_for_deliveries()
    limit = github.trouble("/api/v3/app/hook/deliveries/", method="POST", status=429)
    with pytest.raises(RateLimited):
        hearing.ask_for_lost_deliveries()
    assert WebhookDelivery.objects.count() == 0
    limit.end()
    assert hearing.ask_for_lost_deliveries() == 2


def test_a_worker_that_starts_asks_at_once(
    agents: Repository, github: GitHubEmulator, work_off_the_queue: Callable[[], None]
) -> None:
    """W02"""
    engine.sync(agents.pk)
    github.deliver = receive
    github.fail_deliveries("push", times=1)
    commit = github.push(NAME, "main", {"lost": "1"})
    github.wait_for_deliveries()
    upkeep.repeat_lost_deliveries(timestamp=0)
    cache.delete("deliveries-read-until")
    upkeep.begin()
    work_off_the_queue()
    github.wait_for_deliveries()
    work_off_the_queue()
    assert heads_shown(agents) == {"main": commit}
    assert history(agents)[1:] == [("main", "push")]


def test_a_webhook_that_comes_while_its_commit_is_read_makes_no_second_sync(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    held = github.hold_deliveries()
    github.deliver = receive
    commit = github.push(NAME, "main", {"late": "1"}, author="ada")
    run = agents.sync_runs.create(
        branch=agents.branches.get(name="main"),
        commit=commit,
        trigger="recovered",
        state="syncing",
        started_at=now(),
    )
    held.release()
    github.wait_for_deliveries()
    run.refresh_from_db()
    assert (run.trigger, run.pusher, agents.sync_runs.count()) == ("push", "ada", 2)


def test_sync_now_finds_as_sync_now_whatever_is_under_way(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.create_branch(NAME, "new", "main")
    push_hint(agents, "main", "1" * 40)
    check_now(agents)
    engine.sync(agents.pk)
    assert history(agents)[1:] == [("main", "push"), ("new", "sync now")]
    github.create_branch(NAME, "newer", "main")
    check_all(agents)
    assert history(agents)[3:] == [("newer", "recovered")]
