"""Real servers: the one of each file in a long path with spaces."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from osmosis_web import locks
from osmosis_web.postgres_server.places import Places
from tests.waiting import wait_until


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
    """Whether no launcher is there."""
    return not places.folder.exists() or locks.is_free(places.lock("launcher"))


def answers(url: str) -> bool:
    """Whether a server there takes a query."""
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False
