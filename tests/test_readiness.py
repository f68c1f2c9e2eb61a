"""/healthz and /readyz: what a load balancer and a watchman ask."""

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

ANYWHERE = {"Host": "10.0.0.7:8000"}
NO_WORKER = "worker: None shows a sign of life. Start script/worker.\n"


def ask(path: str) -> tuple[int, str]:
    answer = Client().get(path, headers=ANYWHERE)
    return answer.status_code, answer.content.decode()


def beat(seconds_ago: int) -> None:
    """A worker whose last heartbeat is so old."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - make_interval(secs => %s))",
            [seconds_ago],
        )


def test_the_process_answers_without_a_database() -> None:
    # Outside of `django_db` a query would fail.
    assert ask("/healthz") == (200, "ok\n")


def test_it_is_ready_with_a_worker_that_lives(db: None, empty_queue: None) -> None:
    beat(seconds_ago=1)
    assert ask("/readyz") == (200, "database: ok\nmigrations: ok\nworker: ok\n")


def test_it_is_not_ready_when_the_last_heartbeat_is_old(db: None, empty_queue: None) -> None:
    beat(seconds_ago=60)
    assert ask("/readyz") == (503, f"database: ok\nmigrations: ok\n{NO_WORKER}")


def test_it_shows_pages_without_a_worker(db: None, empty_queue: None) -> None:
    assert ask("/readyz?without=worker") == (200, "database: ok\nmigrations: ok\n")


def test_it_is_not_ready_before_the_database_is_up_to_date(db: None) -> None:
    MigrationRecorder(connection).record_unapplied("rollouts_app", "0003_steps_and_causes")
    status, text = ask("/readyz?without=worker")
    assert (status, text.splitlines()[1]) == (
        503,
        "migrations: 1 are to be applied. Restart script/server, or run manage.py migrate.",
    )


def test_it_is_ready_when_newer_code_has_been_at_the_database(db: None) -> None:
    MigrationRecorder(connection).record_applied("rollouts_app", "9999_of_the_next_version")
    assert ask("/readyz?without=worker")[0] == 200
