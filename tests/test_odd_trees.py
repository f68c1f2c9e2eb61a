"""Directories that are none, names that people regret: what is there shows, the rest is told."""

import subprocess
from collections.abc import Mapping
from urllib.parse import quote

import pytest

from rollouts_app.models import Repository, User
from rollouts_app.sync import engine
from tests.conftest import FILES
from tests.github_emulator import Content, GitHubEmulator, Submodule, Symlink
from tests.pages import page_of
from tests.rollouts_page import badges, client_of, names, reason, seen_by
from tests.syncing import NAME, check_all, heads_shown

pytestmark = pytest.mark.django_db

NOTICES = ".//*[@aria-label='What is left out']//li"


def sync(agents: Repository, github: GitHubEmulator, files: Mapping[str, Content]) -> str:
    """Let main hold these files and nothing else; its commit."""
    commit = github.replace(NAME, "main", files)
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("", {"main": commit})
    return commit


def write(github: GitHubEmulator, kind: str, content: bytes) -> str:
    """An object that no git of today would write, past all checks; its id."""
    folder = github.bare(github.repository_named(NAME)).folder
    command = ["git", "hash-object", "-w", "--literally", "--stdin", "-t", kind]
    return subprocess.check_output(command, cwd=folder, input=content).decode().strip()


def tree(*entries: tuple[str, bytes, str]) -> bytes:
    return b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(id) for mode, name, id in entries
    )


def commit_tree(github: GitHubEmulator, root: str, branch: str = "main") -> str:
    """Let a branch point at a commit of a root tree."""
    who = "Ada <ada@acme.example> 1700000000 +0000"
    text = f"tree {root}\nauthor {who}\ncommitter {who}\n\nOdd\n"
    commit = write(github, "commit", text.encode())
    folder = github.bare(github.repository_named(NAME)).folder
    subprocess.run(["git", "update-ref", f"refs/heads/{branch}", commit], cwd=folder, check=True)
    return commit


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        ("a file", "rollouts is a file, not a directory."),
        (Symlink("elsewhere"), "rollouts is a symbolic link, and those are not followed."),
        (Submodule("1" * 40), "rollouts is a submodule, and other repositories are not read."),
    ],
)
def test_rollouts_that_are_no_directory_are_told(
    agents: Repository, github: GitHubEmulator, ada: User, odd: Content, sentence: str
) -> None:
    sync(agents, github, {"elsewhere/maths/main.py": "1", "rollouts": odd})
    page = seen_by(ada)
    assert reason(page).startswith("No rollouts/ directory on main at ")
    [notice] = page.texts(NOTICES)
    assert notice == (
        f"{sentence} Make rollouts a directory of its own and push again. rollouts on GitHub"
    )
    assert agents.sync_runs.latest("pk").state == "issues"


def test_missing_rollouts_are_no_problem(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    """Told apart from a file in their place, though neither branch has a rollouts directory."""
    github.replace(NAME, "odd", {"README.md": "x", "rollouts": "a file"})
    sync_all = {"README.md": "x"}
    github.replace(NAME, "main", sync_all)
    check_all(agents)
    page = seen_by(ada)
    assert reason(page).startswith("No rollouts/ directory on main at ")
    assert page.texts(NOTICES) == []
    assert len(seen_by(ada, "?branch=odd").texts(NOTICES)) == 1
    states = dict(agents.sync_runs.values_list("branch__name", "state"))
    assert states == {"main": "success", "odd": "issues"}


def test_an_empty_directory_has_no_rollouts(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    empty = write(github, "tree", b"")
    commit_tree(github, write(github, "tree", tree(("40000", b"rollouts", empty))))
    check_all(agents)
    assert reason(seen_by(ada)) == "rollouts/ on main has no subdirectories."


@pytest.mark.parametrize("path", ["configs", "configs/eval", "configs/training"])
def test_configs_that_are_no_directory_are_told(
    agents: Repository, github: GitHubEmulator, ada: User, path: str
) -> None:
    sync(agents, github, {"rollouts/maths/main.py": "1", path: Symlink("elsewhere")})
    page = seen_by(ada)
    assert names(page) == ["maths"]
    [notice] = page.texts(NOTICES)
    assert notice.startswith(f"{path} is a symbolic link, and those are not followed.")


def test_what_lies_in_a_rollout_is_not_followed(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    """Submodules and links, of a rollout and in one, and a rollout that is a repository itself."""
    odd: dict[str, Content] = {
        ".gitmodules": '[submodule "m"]\n\tpath = rollouts/module\n\turl = https://x.invalid/m\n',
        "rollouts/link": Symlink("maths"),
        "rollouts/maths/agent": Submodule("2" * 40),
        "rollouts/maths/README.md": Symlink("/etc/passwd"),
        "rollouts/maths/pyproject.toml": Symlink("../search/pyproject.toml"),
        "rollouts/module": Submodule("1" * 40),
        "rollouts/nested/HEAD": "ref: refs/heads/main\n",
        "rollouts/nested/objects/x": "x",
        "rollouts/nested/refs/x": "x",
    }
    sync(agents, github, odd)
    page = seen_by(ada)
    assert names(page) == ["maths", "nested"]
    assert badges(page) == {"maths": "1 warning"}
    detail = page_of(client_of(ada).get("/acme/rollouts/maths"))
    first = detail.texts(".//section[@aria-label='Problems']//li")[0]
    assert first.startswith(
        "rollouts/maths/pyproject.toml is a symbolic link, and those are not followed."
    )
    assert detail.text(".//p[@class='muted readme-rest']") == (
        "rollouts/maths/README.md is a symbolic link, and those are not followed. Open it on GitHub"
    )


MARKUP = "<img src=x onerror=alert(1)>"
ODD_NAMES = {
    MARKUP: MARKUP,
    "{{ 7|add:7 }}": "{{ 7|add:7 }}",
    "a\u202egnp.exe": "a\\u202egnp.exe",
    "tab\there": "tab\\there",
    "line\nbreak": "line\\nbreak",
    "esc\x1b[31m": "esc\\x1b[31m",
    "zero\u200bwidth": "zero\\u200bwidth",
    "Maths": "Maths",
    "maths": "maths",
    "MATHS": "MATHS",
    "ünï 'code' \"x\" & %2e%2e #1": "ünï 'code' \"x\" & %2e%2e #1",
    "..hidden": "..hidden",
    "-rf": "-rf",
    ".git.": ".git.",
    "git~1x": "git~1x",
    "CON": "CON",
    "ends with dot.": "ends with dot.",
    "x" * 255: "x" * 255,
}


def test_any_name_shows_and_leads_somewhere(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = sync(agents, github, {f"rollouts/{name}/main.py": "1" for name in ODD_NAMES})
    response = client_of(ada).get("/acme/rollouts")
    page = page_of(response)
    shown = [text.strip() for text in names(page)]
    assert sorted(shown) == sorted(" ".join(name.split()) for name in ODD_NAMES.values())
    assert badges(page) == {}
    assert MARKUP.encode() not in response.content
    sources = [link.get("href") for link in page.all(".//a[@class='title']")]
    assert sorted(map(str, sources)) == sorted(
        f"{github.url}/{NAME}/tree/{commit}/rollouts/{quote(name, safe='')}" for name in ODD_NAMES
    )
    for link in page.all(".//td[@class='open']/a"):
        details = client_of(ada).get(link.get("href", ""))
        assert details.status_code == 200
        assert MARKUP.encode() not in details.content


def test_names_that_cannot_be_kept_are_changed_and_told(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    files = {
        "rollouts/caf\udce9/pyproject.toml": "[project\n",
        f"rollouts/{'é' * 300}/main.py": "1",
        "configs/eval/caf\udce9.toml": FILES["configs/eval/maths.toml"],
        "rollouts/maths/main.py": "1",
    }
    commit = sync(agents, github, files)
    page = seen_by(ada)
    long = "é" * 254 + "…"
    assert badges(page) == {"caf\\xe9": "1 problem", long: "1 warning", "maths": "1 warning"}
    rollouts = f"{github.url}/{NAME}/tree/{commit}/rollouts"
    sources = [link.get("href") for link in page.all(".//a[@class='title']")]
    assert sources == [rollouts, f"{rollouts}/maths", rollouts]
    detail = page_of(client_of(ada).get(f"/acme/rollouts/{quote('caf' + chr(92) + 'xe9')}"))
    broken, said, *_notes = detail.texts(".//section[@aria-label='Problems']//li")
    assert said.startswith("caf\\xe9 is called otherwise in git: the name there is not UTF-8")
    assert "is not valid TOML" in broken
    links = detail.all(".//section[@aria-label='Problems']//a")
    assert {link.get("href") for link in links} == {rollouts}


@pytest.mark.parametrize("name", [b".git", b".GIT", b"git~1", b"..", b"."])
def test_names_that_git_forbids_hurt_nobody(
    agents: Repository, github: GitHubEmulator, name: bytes
) -> None:
    """W25: nothing is ever checked out here, so they are as harmless as any other."""
    engine.sync(agents.pk)
    blob = write(github, "blob", b"1")
    inner = write(github, "tree", tree(("100644", b"main.py", blob)))
    rollouts = sorted([("40000", name, inner), ("40000", b"maths", inner)], key=lambda e: e[1])
    root = write(
        github, "tree", tree(("40000", b"rollouts", write(github, "tree", tree(*rollouts))))
    )
    odd = commit_tree(github, root, "odd")
    other = github.push(NAME, "main", {"rollouts/new/main.py": "1"})
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("", {"main": other, "odd": odd})


def test_a_broken_rollout_leaves_its_neighbours_alone(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    """W25: each rollout on its own."""
    files = {f"rollouts/r{number}/pyproject.toml": "[project]\n" for number in range(5)}
    sync(agents, github, {**files, "rollouts/r2/pyproject.toml": "[project\n"})
    page = seen_by(ada)
    assert names(page) == [f"r{number}" for number in range(5)]
    assert badges(page) == {"r2": "1 problem"}
    assert agents.sync_runs.latest("pk").state == "issues"


def test_the_standard_files_are_no_problem(agents: Repository, github: GitHubEmulator) -> None:
    sync(agents, github, FILES)
    assert agents.sync_runs.latest("pk").state == "success"
