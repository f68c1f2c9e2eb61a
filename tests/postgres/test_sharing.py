"""The embedded PostgreSQL is shared, comes back when killed, and stops with its last user."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dj_database_url
import psycopg
import pytest

from osmosis_web import postgres
from osmosis_web.postgres import PostgresError
from osmosis_web.postgres_server.places import Places
from tests.postgres.conftest import answers, has_stopped
from tests.waiting import wait_until

PROJECT = Path(__file__).resolve().parents[2]
USER = """
import sys
from pathlib import Path
from osmosis_web import locks, postgres
with postgres.running(Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


def postmaster(places: Places) -> int:
    return int((places.data / "postmaster.pid").read_text().split()[0])


def parent_of(process: int) -> int:
    return int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(process)]))


class User:
    """Another process that uses the database until it is told to leave, or killed."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(folder)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def leave(self) -> int:
        self.process.communicate()
        return self.process.returncode


def test_it_serves_a_private_unicode_database(places: Places) -> None:
    with postgres.running(places.folder) as url:
        settings = dj_database_url.parse(url)
        with psycopg.connect(url) as connection:
            facts = connection.execute(
                "SELECT current_user, current_database(), lower('É'), 'a' < 'B',"
                " current_setting('listen_addresses'), current_setting('fsync')"
            ).fetchone()
        mode = places.socket_folder.stat().st_mode & 0o777
        socket_folder = places.socket_folder

    assert facts == ("osmosis", "osmosis", "é", False, "", "on")
    assert (settings["USER"], settings["HOST"], settings["PORT"], settings["NAME"]) == (
        *("osmosis", str(socket_folder), ""),
        "osmosis",
    )
    assert mode == 0o700
    assert has_stopped(places)
    assert not socket_folder.exists()


def test_it_is_shared_and_stops_with_the_last_user(places: Places) -> None:
    first, second = User(places.folder), User(places.folder)
    url = first.url()
    assert second.url() == url
    server = postmaster(places)

    assert first.leave() == 0
    assert answers(url)
    assert postmaster(places) == server
    assert second.leave() == 0
    assert has_stopped(places)


def test_it_stops_after_its_only_user_was_killed(places: Places) -> None:
    user = User(places.folder)
    url = user.url()
    assert answers(url)
    user.process.kill()
    user.process.communicate()

    wait_until(lambda: has_stopped(places), seconds=3)
    assert not answers(url)


def test_it_serves_the_children_of_a_killed_user(places: Places) -> None:
    server = postgres.start(places.folder)
    child = subprocess.Popen(["sleep", "60"], close_fds=False)
    os.close(server.descriptor)  # as when we are killed
    time.sleep(0.5)
    assert answers(server.url)

    child.kill()
    child.wait()
    wait_until(lambda: has_stopped(places), seconds=3)


def test_it_comes_back_when_its_postmaster_is_killed(places: Places) -> None:
    with postgres.running(places.folder) as url:
        killed = postmaster(places)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not answers(url))
        assert wait_until(lambda: answers(url)) < 2
        assert postmaster(places) != killed


def test_it_takes_over_from_a_launcher_that_was_killed(places: Places) -> None:
    with postgres.running(places.folder) as url:
        orphan = postmaster(places)
        os.kill(parent_of(orphan), signal.SIGKILL)
        wait_until(lambda: has_stopped(places))
        assert answers(url)

        with postgres.running(places.folder) as same_url:
            assert same_url == url
            assert answers(url)
            assert postmaster(places) != orphan


def test_it_starts_after_a_power_cut_left_a_number_that_is_now_ours(places: Places) -> None:
    with postgres.running(places.folder):
        left = (places.data / "postmaster.pid").read_text().splitlines()
    left[0] = str(os.getpid())
    (places.data / "postmaster.pid").write_text("\n".join(left))

    with postgres.running(places.folder) as url:
        assert answers(url)


def test_it_ends_with_a_command_that_gets_ctrl_c(places: Places) -> None:
    command = subprocess.Popen(
        [
            *(sys.executable, "-m", "osmosis_web.postgres", "run", str(places.folder), "--"),
            *("sh", "-c", 'echo "$DATABASE_URL"; sleep 60; sleep 60'),
        ],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert command.stdout
    assert answers(command.stdout.readline().strip())
    os.killpg(command.pid, signal.SIGINT)

    assert command.communicate() == ("", "")
    assert command.returncode == -signal.SIGINT
    wait_until(lambda: has_stopped(places), seconds=3)


def test_it_removes_a_throwaway_server_with_its_files(room: Path) -> None:
    folder = room / "throwaway"
    with postgres.running(folder, throwaway=True) as url, psycopg.connect(url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("off",)

    # The launcher removes the files after the server has stopped.
    wait_until(lambda: not folder.exists())


def test_it_removes_a_database_nobody_uses(room: Path) -> None:
    folder = room / "removed"
    with postgres.running(folder):
        (folder / "mine.txt").write_text("")
        with pytest.raises(PostgresError) as refusal:
            postgres.remove_database(folder)
        assert str(refusal.value) == f"The database in {folder} is in use."

    postgres.remove_database(folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
