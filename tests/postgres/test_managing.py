"""`script/manage`: commands on the database that comes along, and the warning of it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from osmosis_web.postgres_server.places import Places
from osmosis_web.server import EMBEDDED
from tests.postgres.conftest import has_stopped
from tests.waiting import wait_until
from tests.workers import ROOT, worker_environment


def run(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run by somebody who stands in this folder, without a DATABASE_URL."""
    environment = {
        **worker_environment(),
        "DATA_DIR": str(folder / "data"),
        "PYTHONPATH": str(ROOT),
    }
    del environment["DATABASE_URL"]
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def folder(room: Path) -> Iterator[Path]:
    """A folder, whose server has stopped in the end."""
    folder = room / "here"
    folder.mkdir(mode=0o711)
    yield folder
    wait_until(lambda: has_stopped(Places(folder / "data" / "postgres")))
    shutil.rmtree(folder)


@pytest.mark.django_db(transaction=True)
def test_it_fills_the_database_that_comes_along(folder: Path) -> None:
    call_command("backup", folder / "osmosis.backup", stdout=StringIO())
    answer = run(folder, "-m", "osmosis_web.managing", "restore", "osmosis.backup")
    assert (answer.stderr, answer.stdout.partition(" rows")[2][:10]) == ("", " are back.")
    assert sorted(path.name for path in folder.iterdir()) == ["data", "osmosis.backup"]


@pytest.mark.django_db
def test_the_server_warns_that_nobody_backs_it_up(folder: Path) -> None:
    start = "from osmosis_web.server import find_database; find_database().close()"
    answer = run(folder, "-c", start)
    warning = EMBEDDED.format(folder=folder / "data" / "postgres")
    assert (answer.stderr, answer.returncode) == (warning, 0)
