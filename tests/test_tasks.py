"""The doorbell: one ring is enough, and none is missed."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine, reconcile
from rollouts_app.sync.manual import check_now
from rollouts_app.sync.tasks import ring, ring_later
from tests.conftest import receive, truncate_queue
from tests.github_emulator import GitHubEmulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]


def waiting(repository: Repository) -> int:
    jobs = ProcrastinateJob.objects.filter(args={"repository_id": repository.pk}, status="todo")
    return jobs.count()


def in_another_thread(work: Callable[[], object]) -> None:
    def run() -> None:
        work()
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)


def test_it_makes_one_job_of_many_rings(agents: Repository) -> None:
    for _ in range(5):
        ring(agents.pk)
    assert waiting(agents) == 1


def test_it_leaves_the_callers_transaction_whole(agents: Repository) -> None:
    ring(agents.pk)
    with transaction.atomic():
        ring(agents.pk)
        agents.request_full_check()
    agents.refresh_from_db()
    assert agents.full_check_requested_at is not None


def test_it_takes_a_ring_back_with_its_rows(agents: Repository) -> None:
    truncate_queue()

    @transaction.atomic
    def ring_and_fail() -> None:
        ring(agents.pk)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ring_and_fail()
    assert waiting(agents) == 0


def test_it_rings_again_when_the_waiting_job_started_before_the_commit(
    agents: Repository, work_off_the_queue: Callable[[], None], github: GitHubEmulator
) -> None:
    work_off_the_queue()
    commit = github.push("acme/agents", "main", {"late": "1"})
    ring(agents.pk)
    with transaction.atomic():
        SyncRun.objects.request(agents.branches.get(name="main"), SyncRun.Trigger.PUSH)
        ring(agents.pk)
        # The job that waited looks now, and cannot see our run.
        in_another_thread(work_off_the_queue)
    assert waiting(agents) == 1
    work_off_the_queue()
    assert agents.branches.get(name="main").commit == commit
    assert not agents.sync_runs.open().exists()


def test_a_ring_does_not_wait_for_one_whose_time_is_far_away(
    agents: Repository, work_off_the_queue: Callable[[], None], github: GitHubEmulator
) -> None:
    work_off_the_queue()
    ring_later(agents.pk, now() + timedelta(hours=2))
    commit = github.push("acme/agents", "main", {"meanwhile": "1"})
    check_now(agents)
    work_off_the_queue()
    assert agents.branches.get(name="main").commit == commit
    assert waiting(agents) == 1


def test_it_makes_one_job_of_sync_now_pressed_twice(
    agents: Repository, work_off_the_queue: Callable[[], None]
) -> None:
    work_off_the_queue()
    before = agents.sync_runs.count()
    check_now(agents)
    check_now(agents)
    assert (waiting(agents), agents.sync_runs.count()) == (1, before + 1)
    work_off_the_queue()
    assert agents.sync_runs.latest("pk").reason == (
        "Nothing changed: the branch already showed this commit."
    )


def test_the_timer_finds_a_push_nobody_told_of(
    agents: Repository, work_off_the_queue: Callable[[], None], github: GitHubEmulator
) -> None:
    work_off_the_queue()
    assert reconcile.repositories_due() == []
    commit = github.push("acme/agents", "main", {"silent": "1"})
    Repository.objects.update(heads_checked_at="2020-01-01T00:00:00Z")
    [due] = reconcile.repositories_due()
    ring(due)
    work_off_the_queue()
    assert agents.branches.get(name="main").commit == commit
    assert agents.sync_runs.latest("pk").trigger == "recovered"


def test_the_timer_leaves_a_run_that_waits_for_github_until_its_time(agents: Repository) -> None:
    """Whoever goes on asking gets no answer the sooner."""
    engine.sync(agents.pk)
    SyncRun.objects.request(agents.branches.get(), SyncRun.Trigger.PUSH)
    SyncRun.objects.update(requested_at=now() - timedelta(minutes=2))
    for trouble in (Repository.Trouble.UNAVAILABLE, Repository.Trouble.RATE_LIMITED):
        agents.note_trouble(trouble, "No.", retry_at=now() + timedelta(minutes=1))
        assert reconcile.repositories_due() == []
    agents.note_trouble(Repository.Trouble.UNAVAILABLE, "No.", retry_at=now())
    assert reconcile.repositories_due() == [agents.pk]


def test_requests_for_one_branch_racing_leave_one_waiting_run(
    agents: Repository, work_off_the_queue: Callable[[], None]
) -> None:
    work_off_the_queue()
    main = agents.branches.get(name="main")
    barrier = threading.Barrier(6)

    def race(commit: str) -> None:
        barrier.wait(10)
        SyncRun.objects.request(main, SyncRun.Trigger.PUSH, commit=commit)
        connections.close_all()

    racers = [threading.Thread(target=race, args=[str(n) * 40]) for n in range(1, 7)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(20)
    states = sorted(agents.sync_runs.exclude(state="success").values_list("state", flat=True))
    assert states == ["pending"] + ["superseded"] * 5


@pytest.fixture(autouse=True)
def _closed_connections() -> Iterator[None]:
    yield
    connections.close_all()


def test_a_push_with_news_of_the_repository_and_one_without_do_not_wait_for_each_other(
    agents: Repository, work_off_the_queue: Callable[[], None], github: GitHubEmulator
) -> None:
    work_off_the_queue()
    github.rename_repository("acme/agents", "robots", by="ada")
    github.push("acme/robots", "main", {"a": "1"})
    github.wait_for_deliveries()
    news = github.deliveries[-1]
    answers: list[int] = []

    def hear() -> None:
        answers.append(receive(news))
        connections.close_all()

    other = threading.Thread(target=hear)
    with transaction.atomic():
        SyncRun.objects.request(agents.branches.get(name="main"), SyncRun.Trigger.PUSH)
        other.start()
        other.join(0.5)
        ring(agents.pk)
    other.join(20)
    assert answers == [202]
