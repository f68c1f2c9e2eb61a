"""The git caches of a machine: bounded, private to it, and no loss to anybody when they go."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.utils.timezone import now
from pytest_django import Settings

from rollouts_app.connection import tie_repository
from rollouts_app.gitstore.folder import Folder
from rollouts_app.management.commands.worker import tidy_caches
from rollouts_app.models import Installation, Repository, SyncRun, User, Workspace
from rollouts_app.sync import caches
from rollouts_app.sync.clients import cache_folder, client_for
from rollouts_app.sync.manual import check_now
from rollouts_app.sync.tasks import sync_repository
from tests.conftest import FILES
from tests.disks import fill, small_disk
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.syncing import NAME, check_all, heads_shown, names_on
from tests.waiting import wait_until
from tests.workers import start_worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def machine(settings: Settings, tmp_path: Path) -> Path:
    """A machine without any cache."""
    settings.DATA_DIR = tmp_path / "machine"
    return tmp_path / "machine"


def connect(installation: Installation, github: GitHubEmulator, name: str) -> Repository:
    """One more repository of Acme, connected to a workspace of its own."""
    github.create_repository(f"acme/{name}", files=FILES)
    github.add_repositories(installation.github_id, [f"acme/{name}"], by="ada")
    facts = client_for(installation).repository(f"acme/{name}")
    return tie_repository(Workspace.objects.create(slug=name), installation, facts)


def cached(machine: Path) -> set[str]:
    return {name for name in os.listdir(machine / "git") if name.isdecimal()}


def let_a_minute_pass(machine: Path) -> None:
    os.utime(machine / "git" / "looked-at", (0, 0))


def test_the_caches_of_a_machine_are_bounded_all_together(
    agents: Repository,
    installation: Installation,
    github: GitHubEmulator,
    machine: Path,
    settings: Settings,
) -> None:
    others = [connect(installation, github, name) for name in ("one", "two")]
    for at, repository in enumerate([agents, *others]):
        sync_repository(repository.pk)
        os.utime(cache_folder(repository) / "lock", (at + 1, at + 1))
    assert len(cached(machine)) == 3
    settings.GIT_CACHE_BYTES = Folder(machine / "git").size() - 1
    caches.tidy()
    assert len(cached(machine)) == 3
    let_a_minute_pass(machine)
    caches.tidy()
    assert cached(machine) == {str(repository.github_id) for repository in others}
    commit = github.push(NAME, "main", {"rollouts/new/README.md": "New."})
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})
    assert names_on(agents, "main") == ["maths", "new", "search"]


def test_each_sync_tidies_up_behind_itself(
    agents: Repository, machine: Path, settings: Settings
) -> None:
    settings.GIT_CACHE_BYTES = 0
    sync_repository(agents.pk)
    assert names_on(agents, "main") == ["maths", "search"]
    assert cached(machine) == set()


def test_the_cache_of_a_repository_that_is_connected_no_longer_goes(
    agents: Repository, installation: Installation, github: GitHubEmulator, machine: Path
) -> None:
    other = connect(installation, github, "one")
    sync_repository(agents.pk)
    sync_repository(other.pk)
    (machine / "git" / ("9" * 30)).mkdir()
    Repository.objects.filter(pk=other.pk).update(disconnected_at=now())
    let_a_minute_pass(machine)
    sync_repository(agents.pk)
    assert cached(machine) == {str(agents.github_id), "9" * 30}


def test_a_full_disk_is_said_on_the_page_and_mends_itself(
    agents: Repository, github: GitHubEmulator, ada: User, settings: Settings, tmp_path: Path
) -> None:
    check_all(agents)
    commit = github.push(NAME, "main", {"rollouts/new/README.md": "New."})
    with small_disk(tmp_path / "disk") as disk:
        settings.DATA_DIR = disk
        ballast = fill(disk)
        check_all(agents)
        assert agents.trouble_reason.startswith("The disk that holds this server's git cache is")
        assert agents.trouble_reason in seen_by(ada).text(".//main")
        assert names_on(agents, "main") == ["maths", "search"]
        ballast.unlink()
        check_all(agents)
        assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})


def test_a_folder_that_cannot_be_used_is_not_githubs_fault(
    agents: Repository, github: GitHubEmulator, ada: User, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    settings.DATA_DIR = tmp_path / "file"
    check_all(agents)
    assert (agents.trouble, agents.is_blocked) == ("git", False)
    notice = seen_by(ada).texts(".//*[@class='notice attention']//p")
    assert (notice[0], notice[3]) == (
        "Sync waits: git cannot do its work on this server.",
        agents.trouble_reason,
    )
    settings.DATA_DIR = tmp_path
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("", github.heads(NAME))


def test_a_full_disk_costs_the_caches_of_others_first(
    agents: Repository,
    installation: Installation,
    github: GitHubEmulator,
    settings: Settings,
    tmp_path: Path,
) -> None:
    other = connect(installation, github, "one")
    with small_disk(tmp_path / "disk") as disk:
        settings.DATA_DIR = disk
        check_all(agents)
        check_all(other)
        fill(disk)
        commit = github.push(NAME, "main", {"rollouts/new/README.md": "New."})
        check_all(agents)
        assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})
        assert cached(disk) == {str(agents.github_id)}


def test_machines_take_turns(
    agents: Repository, github: GitHubEmulator, settings: Settings, tmp_path: Path
) -> None:
    """Each finds in its own cache what it had long ago, or nothing at all."""
    for turn, name in enumerate(["a", "b", "a", "c", "b", "a"]):
        settings.DATA_DIR = tmp_path / name
        commit = github.push(NAME, "main", {f"rollouts/r{turn}/README.md": "x"})
        if turn == 3:
            commit = github.replace(NAME, "main", {"rollouts/r3/README.md": "x"})
        check_all(agents)
        assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})
        assert f"r{turn}" in names_on(agents, "main")
    assert names_on(agents, "main") == ["r3", "r4", "r5"]


@pytest.fixture
def workers(machine: Path, empty_queue: None) -> Iterator[None]:
    """Two real workers on one machine."""
    started = [start_worker(machine) for _ in range(2)]
    yield
    for worker in started:
        worker.kill()
        worker.wait()


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_a_machine(
    agents: Repository, installation: Installation, github: GitHubEmulator, workers: None
) -> None:
    """Different repositories at once, and the same one, push after push."""
    repositories = [agents, *(connect(installation, github, name) for name in ("one", "two"))]
    for number in range(5):
        for repository in repositories:
            name = repository.full_name
            github.push(name, "main", {f"rollouts/r{number}/README.md": f"{name} {number}"})
            check_now(repository)
    wait_until(lambda: all(is_synced(repository, github) for repository in repositories))
    wait_until(lambda: not SyncRun.objects.open().exists())
    wanted = ["maths", *(f"r{number}" for number in range(5)), "search"]
    assert [names_on(repository, "main") for repository in repositories] == [wanted] * 3
    litter = [path for path in cache_folder(agents).rglob("*") if "tmp_" in path.name]
    assert litter == []


def is_synced(repository: Repository, github: GitHubEmulator) -> bool:
    return heads_shown(repository) == github.heads(repository.full_name)


def test_a_worker_tidies_its_disk_without_a_job(db: None, machine: Path) -> None:
    stray = machine / "git" / "987654"
    (stray / "objects").mkdir(parents=True)
    (stray / "lock").touch()
    with ThreadPoolExecutor() as pool:
        pool.submit(tidy_caches).result()
    assert cached(machine) == set()
