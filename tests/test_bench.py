"""The benchmarks in small: they run, they tell, and they notice what is lost."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from tests.bench.postman import Postman
from tests.bench.pushes import Pushes
from tests.bench.verdict import losses
from tests.github_emulator import GitHubEmulator
from tests.syncing import check_all
from tests.waiting import wait_until
from tests.workers import ROOT

SMALL = {
    "pushes": 60,
    "pushes-per-second": 20,
    "repositories": 4,
    "seconds-between-kills": 1.5,
    "seconds-between-checks": 2,
}
FIGURES = [
    *("pushes", "seconds", "pushes a second", "kills", "deliveries", "answers", "runs"),
    *("runs by trigger", "delivery to shown", "recovered", "rows", "git caches"),
    "peak of a worker",
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """For temporary files; an embedded PostgreSQL of root's lies there under another account."""
    folder = Path(tempfile.mkdtemp(prefix="osmosis-bench-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def test_it_loses_nothing_in_a_small_soak_and_leaves_nothing_behind(folder: Path) -> None:
    options = [f"--{name}={value}" for name, value in SMALL.items()]
    bench = [sys.executable, "-m", "tests.bench", "soak", *options]
    soak = subprocess.run(
        [sys.executable, "-m", "osmosis_web.postgres", "run", "--throwaway", "--", *bench],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
    )
    *lines, verdict = soak.stdout.splitlines()
    figures = dict(line.split(":", 1) for line in lines)
    assert (verdict, soak.stderr, soak.returncode) == ("Nothing was lost.", "", 0)
    assert list(figures) == FIGURES
    assert figures["pushes"].split()[:4] == ["60", "to", "4", "repositories"]
    assert int(figures["kills"].split()[0]) > 0
    wait_until(lambda: not list(folder.iterdir()))


@pytest.fixture
def pushes(db: None, github: GitHubEmulator) -> Pushes:
    """Two repositories that everything is shown of."""
    github.reset()
    pushes = Pushes(github, seed=1, repositories=2)
    for row in Repository.objects.all():
        engine.sync(row.pk)
    return pushes


@pytest.fixture
def postman(github: GitHubEmulator) -> Iterator[Postman]:
    with Postman(github, seed=1) as postman:
        yield postman


def test_it_names_what_is_lost(pushes: Pushes, postman: Postman, github: GitHubEmulator) -> None:
    assert losses(pushes, postman) == []
    first, second = Repository.objects.order_by("full_name")
    old = pushes.heads(first.full_name)["main"]
    github.deliver = None
    new = github.push(first.full_name, "main", {"rollouts/new/main.py": "1"})
    github.create_branch(second.full_name, "dev", "main")
    postman.accepted.add("4711")
    SyncRun.objects.request(first.branches.get(), SyncRun.Trigger.PUSH, commit=new)
    head = pushes.heads(second.full_name)["dev"]
    assert losses(pushes, postman) == [
        f"soak/agents-01: main shows {old}, and git has {new}.",
        f"soak/agents-02: dev shows nothing, and git has {head}.",
        "1 sync runs have not ended.",
        "1 deliveries were accepted and left no row.",
    ]


def test_it_tells_a_branch_that_shows_something_else(
    pushes: Pushes, postman: Postman, github: GitHubEmulator
) -> None:
    github.deliver = None
    first, second = Repository.objects.order_by("full_name")
    commit = github.push(first.full_name, "main", {"rollouts/new/main.py": "1"})
    check_all(first)
    first.branches.update(catalog=second.branches.get().catalog)
    assert losses(pushes, postman) == [f"soak/agents-01: main does not show what {commit} holds."]


def test_it_fails_when_the_command_line_waits_too_long(folder: Path) -> None:
    bench = [sys.executable, "-m", "tests.bench", "load", "--requests=5", "--most=0.01"]
    load = subprocess.run(
        [sys.executable, "-m", "osmosis_web.postgres", "run", "--throwaway", "--", *bench],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
    )
    figures = json.loads(load.stdout)
    assert (load.returncode, figures["requests"], figures["most"]) == (1, 5, 0.01)
    assert figures["ratio"] > 0.01
    wait_until(lambda: not list(folder.iterdir()))
