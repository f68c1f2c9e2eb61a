"""The embedded PostgreSQL, with real servers: the one of this file in a long path with spaces."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dj_database_url
import psycopg
import pytest

from osmosis_web import locks, postgres
from osmosis_web.postgres import PostgresError
from osmosis_web.postgres_server import binaries, cluster
from osmosis_web.postgres_server.places import Places, name_of

PROJECT = Path(__file__).resolve().parent.parent
USER = """
import sys
from pathlib import Path
from osmosis_web import locks, postgres
with postgres.running(Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    """A folder that every account can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def data_folder(room: Path) -> Path:
    return room / ("it's a folder " + "x" * 150) / "postgres"


@pytest.fixture
def places(data_folder: Path) -> Iterator[Places]:
    """The files of this module's server, which is stopped before and after each test."""
    yield Places(data_folder)
    wait_until(lambda: has_stopped(Places(data_folder)))


def has_stopped(places: Places) -> bool:
    return not places.folder.exists() or locks.is_free(places.lock("launcher"))


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> float:
    """Wait for it and return how many seconds it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() < start + seconds, "waited in vain"
        time.sleep(0.02)
    return time.monotonic() - start


def answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


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

    assert not folder.exists()


def test_it_removes_a_database_nobody_uses(room: Path) -> None:
    folder = room / "removed"
    with postgres.running(folder):
        (folder / "mine.txt").write_text("")
        with pytest.raises(PostgresError) as refusal:
            postgres.remove_database(folder)
        assert str(refusal.value) == f"The database in {folder} is in use."

    postgres.remove_database(folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_it_refuses_the_data_of_another_postgresql(places: Places) -> None:
    with postgres.running(places.folder):
        pass
    version = places.data / "PG_VERSION"
    version.write_text("16\n")
    with pytest.raises(PostgresError) as refusal:
        postgres.start(places.folder)
    version.write_text("18\n")

    assert str(refusal.value) == (
        f"The database in {places.data} was made by PostgreSQL 16, and this release comes with "
        "PostgreSQL 18. Move its contents with pg_dump from the release that made it, or choose "
        "another DATA_DIR to start empty."
    )


def test_it_says_why_the_server_does_not_start(places: Places) -> None:
    with postgres.running(places.folder):
        pass
    settings = places.data / "postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "\nshared_buffers = 'much'\n")
    with pytest.raises(PostgresError) as refusal:
        postgres.start(places.folder)
    settings.write_text(good)

    assert str(refusal.value) == (
        "The embedded PostgreSQL does not start: configuration file "
        f'"{settings}" contains errors (its log is {places.log}).'
    )


def test_it_refuses_a_socket_folder_open_to_others(places: Places) -> None:
    with postgres.running(places.folder):
        folder = places.socket_folder
    folder.mkdir(mode=0o755)
    with pytest.raises(PostgresError) as refusal:
        postgres.start(places.folder)
    folder.rmdir()

    owner = "nobody" if os.geteuid() == 0 else name_of(os.geteuid())
    assert str(refusal.value) == (
        f"{folder}, where the database's socket belongs, is not a private folder of {owner}. "
        "Remove it, or set TMPDIR to another folder."
    )


def test_it_says_where_it_cannot_write(room: Path) -> None:
    (room / "file").write_text("")
    with pytest.raises(PostgresError) as refusal:
        postgres.start(room / "file" / "postgres")

    assert str(refusal.value) == (
        f"Cannot keep a database in {room}/file/postgres: Not a directory ({room}/file/postgres). "
        "Choose another DATA_DIR."
    )


def test_it_says_that_the_disk_is_full(places: Places) -> None:
    output = (
        '2026-01-01 00:00:00.000 UTC [7] FATAL:  could not write to file "pg_wal/xlogtemp.7": '
        "No space left on device\nchild process exited with exit code 1\n"
    )

    assert cluster.explained(output, places) == (
        f"The disk that holds {places.cluster} is full. Free some space and start again."
    )


def test_it_says_that_this_platform_has_no_wheel(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "WHEEL", "postgresql-for-no-platform")
    with pytest.raises(PostgresError) as refusal:
        postgres.start(room / "no wheel")

    assert str(refusal.value) == (
        "There is no embedded PostgreSQL for this platform: postgresql-for-no-platform is not "
        "installed. Install PostgreSQL 15 or newer, make an empty database, and name it in "
        "DATABASE_URL."
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")
def test_it_leaves_the_permissions_of_closed_folders_alone(
    room: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed = room / "closed"
    closed.mkdir(mode=0o700)
    folder = closed / "postgres"
    with postgres.running(folder) as url:
        assert answers(url)
    elsewhere = (folder / "cluster").readlink()
    postgres.remove_database(folder)

    assert [record.getMessage() for record in caplog.records] == [
        f"The database lies in {elsewhere}: PostgreSQL runs as nobody, who cannot reach {folder}. "
        "Set DATA_DIR to a folder open to all users to keep it there."
    ]
    assert closed.stat().st_mode & 0o777 == 0o700
    assert not elsewhere.exists()
    assert not folder.exists()
