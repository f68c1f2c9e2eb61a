"""Pruning: old history goes, and of the contents only what nothing shows any more."""

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connections
from django.utils.timezone import now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import (
    Branch,
    Catalog,
    ConfigVersion,
    Repository,
    Rollout,
    RolloutVersion,
    SyncRun,
    WebhookDelivery,
)
from rollouts_app.models.syncs import KEPT
from rollouts_app.sync import engine, pruning, upkeep
from rollouts_app.sync.locks import repository_lock
from tests.conftest import truncate_queue
from tests.github_emulator import GitHubEmulator
from tests.history import check_all
from tests.syncing import NAME, names_on

pytestmark = pytest.mark.django_db

OLD = now() - KEPT - timedelta(days=1)
YOUNG = now() - KEPT + timedelta(days=1)


def age(repository: Repository) -> None:
    """Let all that happened so far have happened long ago."""
    repository.sync_runs.filter(finished_at__isnull=False).update(finished_at=OLD)
    WebhookDelivery.objects.update(received_at=OLD)


def holds_everything(repository: Repository) -> bool:
    """Whether each catalog has all the versions that it names."""
    versions = set(RolloutVersion.objects.values_list("pk", flat=True))
    configs = set(ConfigVersion.objects.values_list("pk", flat=True))
    return all(
        versions >= set(catalog.versions) and configs >= set(catalog.configs)
        for catalog in repository.catalogs.all()
    )


def test_it_keeps_ninety_days_and_the_last_sync_of_each_branch(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "feature/x", "main")
    engine.sync(agents.pk)
    for number in range(2):
        github.push(NAME, "main", {f"rollouts/r{number}/main.py": "…"})
        check_all(agents)
    age(agents)
    github.push(NAME, "main", {"rollouts/r9/main.py": "…"})
    newest = check_all(agents)
    assert pruning.repositories_to_prune() == [agents.pk]
    assert pruning.prune(agents.pk)
    kept = SyncRun.objects.order_by("pk").values_list("branch__name", "finished_at")
    assert list(kept) == [("feature/x", OLD), ("main", newest.finished_at)]
    assert pruning.repositories_to_prune() == []


def test_it_never_ends_a_sync_that_is_open(agents: Repository) -> None:
    engine.sync(agents.pk)
    main = agents.branches.get(name="main")
    SyncRun.objects.request(main, "push", commit="1" * 40)
    SyncRun.objects.update(requested_at=OLD, started_at=OLD)
    pruning.prune(agents.pk)
    assert SyncRun.objects.open().count() == 1


def test_it_drops_old_deliveries_whosesoever_they_are(
    agents: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "BATCH", 2)
    for number, received_at in enumerate([OLD, YOUNG, OLD, OLD, OLD, OLD]):
        repository = agents if number % 2 else None
        WebhookDelivery.objects.create(
            delivery_id=f"{number}", event="push", repository=repository, received_at=received_at
        )
    pruning.prune_deliveries()
    assert list(WebhookDelivery.objects.values_list("delivery_id", flat=True)) == ["1"]


def test_it_drops_what_only_old_syncs_had_shown(agents: Repository, github: GitHubEmulator) -> None:
    """What a branch shows, a tombstone keeps or a kept sync names stays; rollouts all stay."""
    github.push(NAME, "gone", {"rollouts/kept/main.py": "1"}, start="main")
    engine.sync(agents.pk)
    github.delete_branch(NAME, "gone")
    for number in range(3):
        github.push(
            NAME,
            "main",
            {"rollouts/maths/main.py": f"{number}", "configs/eval/maths.toml": f"x = {number}"},
        )
        check_all(agents)
    before = agents.catalogs.count()
    age(agents)
    assert pruning.prune(agents.pk)
    assert (before, agents.catalogs.count()) == (5, 4)
    assert holds_everything(agents)
    assert names_on(agents, "main") == ["maths", "search"]
    assert names_on(agents, "gone") == ["kept", "maths", "search"]
    maths = RolloutVersion.objects.filter(rollout__name="maths")
    # The last sync of main names what it showed before and after, that of the tombstone what main
    # showed at first.
    assert maths.count() == 3
    assert sorted(Rollout.objects.values_list("name", flat=True)) == ["kept", "maths", "search"]


def test_a_branch_that_comes_back_to_pruned_contents_has_them_read_again(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    seen = Rollout.objects.get(name="maths")
    for text in ("1", "2", "3"):
        github.push(NAME, "main", {"rollouts/maths/main.py": text})
        check_all(agents)
    age(agents)
    pruning.prune(agents.pk)
    github.push(NAME, "main", {"rollouts/maths/main.py": "1"})
    check_all(agents)
    assert names_on(agents, "main") == ["maths", "search"]
    assert holds_everything(agents)
    assert Rollout.objects.get(name="maths") == seen


def test_it_stands_back_where_a_sync_holds_the_lock(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    leftover = Catalog.objects.create(repository=agents, rollouts_tree="x")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with repository_lock(agents.pk):
            held.set()
            done.wait(20)
        connections.close_all()

    syncer = threading.Thread(target=hold)
    syncer.start()
    assert held.wait(10)
    answer = pruning.prune(agents.pk)
    done.set()
    syncer.join(10)
    assert not answer
    assert Catalog.objects.filter(pk=leftover.pk).exists()
    assert pruning.prune(agents.pk)
    assert not Catalog.objects.filter(pk=leftover.pk).exists()


def test_it_gives_way_to_a_push_that_waits(agents: Repository) -> None:
    engine.sync(agents.pk)
    Catalog.objects.create(repository=agents, rollouts_tree="x")
    SyncRun.objects.request(agents.branches.get(name="main"), "push", commit="1" * 40)
    assert not pruning.prune(agents.pk)
    assert agents.catalogs.count() == 2


def test_one_repository_keeps_what_another_lost(agents: Repository) -> None:
    engine.sync(agents.pk)
    before = agents.catalogs.count(), RolloutVersion.objects.count()
    assert pruning.prune(agents.pk + 1)
    assert (agents.catalogs.count(), RolloutVersion.objects.count()) == before


@pytest.mark.usefixtures("empty_queue")
def test_the_tasks_prune_what_is_due_and_come_back_where_a_sync_goes_first(
    agents: Repository,
) -> None:
    engine.sync(agents.pk)
    engine_run = SyncRun.objects.get()
    SyncRun.objects.create(
        repository=agents, branch=engine_run.branch, state="success", finished_at=now()
    )
    age(agents)
    truncate_queue()
    upkeep.prune(0)
    upkeep.prune(0)
    [job] = ProcrastinateJob.objects.all()
    assert (job.task_name, job.args) == ("prune_repository", {"repository_id": agents.pk})
    truncate_queue()
    SyncRun.objects.request(engine_run.branch, "push", commit="1" * 40)
    Catalog.objects.create(repository=agents, rollouts_tree="x")
    upkeep.prune_repository(agents.pk)
    [later] = ProcrastinateJob.objects.all()
    assert later.scheduled_at > now() + timedelta(minutes=4)


# Up to six catalogs of up to four versions each; which of them branches show, tombstones keep, and
# syncs name before and after, the last of each branch or not, old or young.
CATALOGS = st.lists(st.sets(st.integers(0, 9), max_size=4), min_size=1, max_size=6)
RUNS = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(-1, 5), st.integers(-1, 5), st.sampled_from([OLD, YOUNG])
    ),
    max_size=8,
)
SHOWN = st.tuples(*[st.integers(-1, 5)] * 3)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(held=CATALOGS, runs=RUNS, shown=SHOWN)
def test_whatever_the_history_what_is_reached_is_whole_and_nothing_else_is_left(
    agents: Repository,
    held: list[set[int]],
    runs: list[tuple[int, int, int, datetime]],
    shown: tuple[int, int, int],
) -> None:
    for model in (SyncRun, Branch, Catalog, Rollout, ConfigVersion):
        model._default_manager.all().delete()
    rollout = Rollout.objects.create(repository=agents, name="r")
    versions = [RolloutVersion.objects.create(rollout=rollout, tree_id=f"{n}") for n in range(10)]
    configs = [ConfigVersion.objects.create(repository=agents, path=f"{n}") for n in range(10)]
    catalogs = [
        Catalog.objects.create(
            repository=agents,
            rollouts_tree=f"{n}",
            versions=[versions[v].pk for v in each],
            configs=[configs[v].pk for v in each],
        )
        for n, each in enumerate(held)
    ]

    def catalog(number: int) -> Catalog | None:
        return catalogs[number] if 0 <= number < len(catalogs) else None

    branches = [
        Branch.objects.create(
            repository=agents, name=f"b{n}", catalog=catalog(c), deleted_at=now() if n else None
        )
        for n, c in enumerate(shown)
    ]
    for branch, before, after, finished_at in runs:
        SyncRun.objects.create(
            repository=agents,
            branch=branches[branch],
            state="success",
            trigger="push",
            catalog_before=catalog(before),
            catalog_after=catalog(after),
            finished_at=finished_at,
        )
    last = {branch: number for number, (branch, *_) in enumerate(runs)}
    kept = [run for n, run in enumerate(runs) if run[3] == YOUNG or last[run[0]] == n]
    reached = {n for n in [*shown, *(n for run in kept for n in run[1:3])] if catalog(n)}

    assert pruning.prune(agents.pk)

    assert SyncRun.objects.count() == len(kept)
    assert set(agents.catalogs.values_list("pk", flat=True)) == {catalogs[n].pk for n in reached}
    contents = {v for n in reached for v in held[n]}
    assert {each.pk for each in RolloutVersion.objects.all()} == {versions[v].pk for v in contents}
    assert {each.pk for each in ConfigVersion.objects.all()} == {configs[v].pk for v in contents}
