"""Why the embedded PostgreSQL cannot be used, in sentences; and what it leaves alone."""

import os
from pathlib import Path

import pytest

from osmosis_web import postgres
from osmosis_web.postgres import PostgresError
from osmosis_web.postgres_server import binaries, cluster
from osmosis_web.postgres_server.places import Places, name_of
from tests.postgres.conftest import answers


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
