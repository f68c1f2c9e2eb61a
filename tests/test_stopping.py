"""Web server and worker, told to stop: what has begun is brought to its end first."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import requests

from rollouts_app import meters
from rollouts_app.models import Repository, SyncRun, Tally, WebhookDelivery
from tests.github_emulator import Delivery, GitHubEmulator
from tests.serving import serving, working
from tests.waiting import wait_until
from tests.workers import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]


@contextmanager
def held_up() -> Iterator[psycopg.Connection]:
    """A database in which no delivery can be stored for the time being."""
    with psycopg.connect(database_url()) as connection:
        connection.execute("LOCK TABLE rollouts_app_webhookdelivery IN ACCESS EXCLUSIVE MODE")
        yield connection


def pushed(github: GitHubEmulator) -> Delivery:
    github.push("acme/agents", "main", {"rollouts/new/main.py": "…"})
    github.wait_for_deliveries()
    return next(each for each in reversed(github.deliveries) if each.event == "push")


def test_the_web_server_answers_what_it_was_asked_before_it_stops(
    agents: Repository, github: GitHubEmulator, tmp_path: Path
) -> None:
    delivery = pushed(github)
    with serving(tmp_path) as web, ThreadPoolExecutor(1) as thread, held_up() as lock:
        answer = thread.submit(
            requests.post,
            f"{web.url}/webhooks/github",
            data=delivery.body,
            headers={**delivery.headers, "Content-Type": "application/json"},
            timeout=30,
        )
        wait_until(lambda: lock.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        web.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "Handling signal: term" in web.text())
        assert web.process.poll() is None
        lock.commit()
        assert answer.result().status_code == 202
        assert web.process.wait(10) == 0
    assert WebhookDelivery.objects.count() == 1


def test_the_worker_finishes_the_sync_it_is_at_before_it_stops(
    agents: Repository, github: GitHubEmulator, tmp_path: Path
) -> None:
    github.trouble("/acme/agents.git/git-upload-pack", delay=1, times=3)
    with working(tmp_path) as worker:
        wait_until(lambda: SyncRun.objects.filter(state="syncing").exists())
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(20) == 0, worker.text()
    runs = SyncRun.objects.values_list("state", "attempts", "reason")
    assert list(runs) == [("success", 1, "")]


def test_it_hands_over_at_the_end_what_all_its_processes_counted(db: None, tmp_path: Path) -> None:
    meters.take()  # what tests of this process have counted
    with serving(tmp_path) as web, ThreadPoolExecutor(8) as threads:
        pages = [threads.submit(requests.get, web.url, timeout=30) for _ in range(24)]
        assert {page.result().status_code for page in pages} == {200}
        web.process.send_signal(signal.SIGTERM)
        assert web.process.wait(20) == 0, web.text()
    counted = Tally.objects.filter(name="responses", labels={"page": "landing", "status": "200"})
    assert [tally.value for tally in counted] == [24]
