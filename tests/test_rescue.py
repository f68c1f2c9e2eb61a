"""Jobs of workers that died are put back once, however many workers notice."""

import asyncio
import threading
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection, connections
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.management.commands.worker import put_back_jobs_of_the_dead
from rollouts_app.models import Repository
from rollouts_app.sync.tasks import ring
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]

RESCUERS = 3


@pytest.fixture
def other_session() -> Iterator["psycopg.Connection[tuple[int]]"]:
    with psycopg.connect(**connection.get_connection_params()) as session:
        yield session


def die(repository: Repository) -> int:
    """A worker takes the job that waits for the repository, and is gone; the job's number."""
    [job] = ProcrastinateJob.objects.filter(args={"repository_id": repository.pk}, status="todo")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'doing' WHERE id = %s", [job.pk])
    return int(job.pk)


def notice_all_at_once(job: int, session: "psycopg.Connection[tuple[int]]") -> None:
    """Several workers have seen the job of the dead one before the first can put it back."""
    connector: DjangoConnector = app.connector  # type: ignore[assignment]

    async def rescue() -> None:
        async with worker_app.open_async():
            await asyncio.gather(*(put_back_jobs_of_the_dead(worker_app) for _ in range(RESCUERS)))

    session.execute("SELECT FROM procrastinate_jobs WHERE id = %s FOR UPDATE", [job])
    with app.replace_connector(connector.get_worker_connector()) as worker_app:
        failures: list[BaseException] = []

        def run() -> None:
            try:
                asyncio.run(rescue())
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: waiting_for_locks() == RESCUERS)
        session.rollback()
        thread.join(20)
    assert failures == []


def waiting_for_locks() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def jobs_of(repository: Repository) -> list[str]:
    connections.close_all()
    jobs = ProcrastinateJob.objects.filter(args={"repository_id": repository.pk})
    return list(jobs.values_list("status", flat=True))


def test_it_puts_a_job_back_once(
    agents: Repository, other_session: "psycopg.Connection[tuple[int]]"
) -> None:
    notice_all_at_once(die(agents), other_session)
    assert jobs_of(agents) == ["todo"]


def test_it_keeps_the_ring_that_waits_instead(
    agents: Repository, other_session: "psycopg.Connection[tuple[int]]"
) -> None:
    job = die(agents)
    ring(agents.pk)
    notice_all_at_once(job, other_session)
    assert jobs_of(agents) == ["todo"]
