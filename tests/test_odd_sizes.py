"""More, longer and larger than anybody needs: it stays quick and small, and what is cut is told."""

import os
import subprocess
import time
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest_django import Settings

from rollouts_app.catalog import combination_problems, read_config, rollouts_in, wanted_configs
from rollouts_app.catalog.limits import LONGEST_README, MOST_CONFIGS, MOST_ROLLOUTS
from rollouts_app.gitstore.folder import Folder
from rollouts_app.models import ConfigVersion, Repository, User
from rollouts_app.sync import engine
from rollouts_app.sync.clients import cache_folder
from tests.conftest import FILES, counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of
from tests.rollouts_page import badges, client_of, names, seen_by
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

NOTICES = ".//*[@aria-label='What is left out']//li"
LOST = ".//*[@class='notice attention messages']"
GIANT = (
    *("data", "rollouts/maths/README.md", "rollouts/maths/pyproject.toml", "rollouts/maths/x"),
    "configs/eval/maths.toml",
)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Measured generously: the machine may have other things to do."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def details(user: User, name: str) -> Page:
    return page_of(client_of(user).get(f"/acme/rollouts/{name}"))


def test_three_thousand_rollouts(agents: Repository, github: GitHubEmulator, ada: User) -> None:
    engine.sync(agents.pk)
    client = client_of(ada)
    client.get("/acme/rollouts")
    with counted_queries() as few:
        client.get("/acme/rollouts")
    files = {
        f"rollouts/r{number:04}/{file}": f"{text} {number}\n"
        for number in range(3_000)
        for file, text in (("README.md", "Number"), ("pyproject.toml", "[project]\n#"))
    }
    github.push(NAME, "main", files)
    with within(60):
        check_all(agents)
    assert agents.sync_runs.latest("pk").state == "success"
    with counted_queries() as many, within(15):
        page = page_of(client.get("/acme/rollouts?page=41"))
    assert len(many) == len(few)
    assert names(page)[0] == "r1999"
    # One more push reads one directory.
    github.push(NAME, "main", {"rollouts/r0007/README.md": "Changed."})
    with within(15):
        check_all(agents)
    assert "Changed." in details(ada, "r0007").text(".//*[@class='markdown']")


def write_giant(
    github: GitHubEmulator, content: bytes, paths: Iterable[str], *, level: int
) -> None:
    """Push a file to several paths of the branch `giant`, compressed by zlib's level."""
    folder = github.bare(github.repository_named(NAME)).folder
    subprocess.run(["git", "config", "core.compression", str(level)], cwd=folder, check=True)
    command = ["git", "hash-object", "-w", "--stdin"]
    blob = subprocess.check_output(command, cwd=folder, input=content).decode().strip()
    files = "".join(f"M 100644 {blob} {path}\n" for path in paths)
    who = "committer Ada <ada@acme.example> 1700000000 +0000\ndata 0\n"
    github.fast_import(NAME, f"commit refs/heads/giant\n{who}{files}".encode())


def test_giant_files_stay_where_they_are(
    agents: Repository, github: GitHubEmulator, ada: User, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    write_giant(github, os.urandom(100_000_000), GIANT, level=0)
    with within(60):
        engine.sync(agents.pk)
    assert Folder(cache_folder(agents)).size() < 100_000
    assert badges(seen_by(ada, "?branch=giant")) == {"maths": "2 problems"}
    told = details(ada, "maths?branch=giant").texts(".//li//strong")
    assert [text.split(" is too")[0] for text in told] == [
        "rollouts/maths/pyproject.toml",
        "configs/eval/maths.toml",
        "rollouts/maths/README.md",
    ]


def test_files_that_unfold_are_not_held(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    """They take little room on the way, and much here."""
    write_giant(github, bytes(100_000_000), ["rollouts/maths/README.md"], level=1)
    tracemalloc.start()
    engine.sync(agents.pk)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert badges(seen_by(ada, "?branch=giant")) == {"maths": "1 warning"}


def test_a_readme_of_five_megabytes_is_linked(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    readme = "All work and no play.\n" * 250_000
    commit = github.push(NAME, "main", {"rollouts/maths/README.md": readme})
    engine.sync(agents.pk)
    page = details(ada, "maths")
    assert page.all(".//pre[@class='readme']") == []
    assert page.text(".//p[@class='muted readme-rest']") == (
        "rollouts/maths/README.md is too large to be shown. Open it on GitHub"
    )
    address = f"{github.url}/{NAME}/blob/{commit}/rollouts/maths/README.md"
    assert page.links()["Open it on GitHub"] == address
    assert badges(seen_by(ada)) == {"maths": "1 warning"}


def test_a_long_readme_is_cut_and_says_so(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.push(NAME, "main", {"rollouts/maths/README.md": "ü" * (LONGEST_README + 1)})
    engine.sync(agents.pk)
    page = details(ada, "maths")
    assert page.text(".//*[@class='markdown']") == "ü" * LONGEST_README
    assert page.text(".//p[@class='muted readme-rest']") == (
        "rollouts/maths/README.md is cut: 50,000 of its 50,001 characters are shown here."
        " Open it on GitHub"
    )
    address = f"{github.url}/{NAME}/blob/{commit}/rollouts/maths/README.md"
    assert page.links()["Open it on GitHub"] == address
    assert page.all(".//section[@aria-label='Problems']") == []
    assert badges(seen_by(ada)) == {}


BOMBS = {
    "deep": "a = " + "[" * 40_000,
    "dotted": "a" + ".a" * 40_000 + " = 1",
    "huge": "a = " + "9" * 90_000,
    "hex": "[experiment]\nrollout = 'maths'\n[x]\na = 0x" + "f" * 90_000,
    "many": "[experiment]\nrollout = 'maths'\n" + "\n".join(f"k{n} = {n}" for n in range(6_000)),
    "large": "#" * 200_000,
}


def test_toml_bombs_hurt_nobody(agents: Repository, github: GitHubEmulator, ada: User) -> None:
    """W25: the two that are valid are configs like others, the rest is told."""
    github.push(NAME, "main", {f"configs/eval/{name}.toml": text for name, text in BOMBS.items()})
    with within(60):
        engine.sync(agents.pk)
    assert agents.trouble == ""
    page = seen_by(ada)
    assert names(page) == ["maths", "search"]
    assert page.texts(f"{LOST}//summary") == ["4 configs belong to no rollout on this branch"]
    assert sorted(text.split(".toml ")[1] for text in page.texts(f"{LOST}//li/p[1]")) == [
        "is nested too deeply to be read.",
        "is nested too deeply to be read.",
        "is not valid TOML: A number has too many digits.",
        "is too large to be read: files of up to 100,000 bytes are.",
    ]
    configs = details(ada, "maths").texts(".//td[@class='file']")
    assert configs == [f"configs/eval/{name}.toml on GitHub" for name in ("hex", "many", "maths")]


def test_few_values_are_kept_of_a_config_with_many() -> None:
    many = "\n".join(f"k{number} = 'x{number}'" for number in range(3_000))
    text = f"{many}\n[experiment]\nrollout = 'maths'\nmodel_path = 'm'\nlong = '{'x' * 20_000}'\n"
    contents = read_config("configs/eval/maths.toml", text.encode())
    assert (contents.rollout_name, len(contents.problems)) == ("maths", 20)
    assert contents.parsed == {"experiment": {"rollout": "maths", "model_path": "m"}}


def test_thousands_of_configs_and_of_problems(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    count, whole = MOST_CONFIGS + 500, FILES["configs/eval/maths.toml"]
    lost = {
        f"configs/eval/c{number:04}.toml": whole.replace("maths", f"gone-{number}", 1)
        for number in range(count)
    }
    broken = {f"configs/training/c{number:04}.toml": "x" for number in range(300)}
    github.push(NAME, "main", {**lost, **broken})
    with within(60):
        engine.sync(agents.pk)
    assert ConfigVersion.objects.count() == MOST_CONFIGS + 300
    client = client_of(ada)
    client.get("/acme/rollouts")
    with counted_queries() as queries, within(15):
        page = page_of(client.get("/acme/rollouts"))
    assert len(queries) <= 8
    assert names(page) == ["maths", "search"]
    [notice] = page.texts(NOTICES)
    assert notice.startswith(
        "configs/eval/ has 2,501 configs: the first 2,000 in the order of names are shown, the"
        " others are left out."
    )
    assert page.text(f"{LOST}//summary") == "2300 configs belong to no rollout on this branch"
    assert len(page.all(f"{LOST}//li")) == 50
    assert page.text(f"{LOST}//details/p") == (
        "These are the first 50 of 2300. Once they are mended, the next ones show here."
    )


class Directory:
    def __init__(self, number: int, name: str, kind: str) -> None:
        self.id, self.name, self.kind = str(number), name, kind


def test_the_first_rollouts_are_kept_of_too_many() -> None:
    count = MOST_ROLLOUTS + 1
    found = rollouts_in(Directory(n, f"r{n:05}", "directory") for n in range(count))
    assert (found.is_cut, found.count, len(found.ids)) == (True, count, MOST_ROLLOUTS)
    assert list(found.ids)[-1] == f"r{MOST_ROLLOUTS - 1:05}"
    configs = wanted_configs("eval", [Directory(1, "a.toml", "file")])
    assert (configs.is_cut, found.with_(configs).count) == (False, count + 1)


def test_many_configs_whose_rollouts_are_missing_are_counted() -> None:
    config = read_config("configs/eval/a.toml", b'[experiment]\nrollout = "x"\n')
    problems = combination_problems([], {f"configs/eval/{n:03}.toml": config for n in range(150)})
    assert [problem.path for problem in problems[:100]][::99] == [
        "configs/eval/000.toml",
        "configs/eval/099.toml",
    ]
    [last] = problems[100:]
    assert (last.count, last.path, last.sentence) == (
        50,
        "configs/",
        "50 more configs are for rollouts that are not there.",
    )
