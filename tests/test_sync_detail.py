"""One sync: what it changed, the problems it found, and its facts."""

import pytest

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from tests.conftest import Read
from tests.github_emulator import GitHubEmulator
from tests.history import ADDRESS, SYNCS, cells, check_all, make_runs
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

BROKEN = "[experiment\n"
CHANGES_HEAD = ".//section[@aria-labelledby='changes-title']/*[@class='box-head']/span"


def test_it_shows_what_one_sync_changed(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    commit = github.push(
        NAME,
        "main",
        {
            "rollouts/chess/main.py": "…",
            "rollouts/maths/main.py": "print('more maths')\n",
            "rollouts/search/README.md": None,
        },
        message="Tidy up",
        author="linus",
    )
    run = check_all(agents)
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.text(".//h1") == "Tidy up"
    assert cells(detail) == [
        ["chess on GitHub", "Added"],
        ["maths on GitHub", "Changed"],
        ["search", "Removed"],
    ]
    links = detail.links()
    assert links["chess on GitHub"] == f"{github.url}/{NAME}/tree/{commit}/rollouts/chess"
    assert links[commit[:7]] == f"{github.url}/{NAME}/commit/{commit}"
    assert links["main"] == "/acme/rollouts?branch=main"
    assert detail.text(CHANGES_HEAD) == "2 rollouts"


def test_it_says_what_a_new_branch_is_compared_with(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.push(NAME, "feature/x", {"rollouts/chess/main.py": "…"}, start="main")
    run = check_all(agents)
    assert cells(read(ADDRESS))[0][4] == "2 → 3 rollouts"
    assert read(f"{SYNCS}/{run.pk}").texts(CHANGES_HEAD) == [
        "against main, as this branch is new",
        "2 → 3 rollouts",
    ]
    github.push(NAME, "feature/x", {"a": "b"})
    run = check_all(agents)
    assert read(f"{SYNCS}/{run.pk}").texts(CHANGES_HEAD) == ["3 rollouts"]


def test_it_gives_the_facts_of_one_sync(read: Read, agents: Repository) -> None:
    make_runs(agents, 1, commit="1" * 40, author="Linus T", pusher="linus", attempts=2)
    detail = read(f"{SYNCS}/{SyncRun.objects.get().pk}")
    assert detail.facts() == {
        "Branch": "main",
        "Commit": "1111111",
        "Author": "Linus T",
        "Cause": "A push by linus",
        "Attempts": "2",
        "History": "All syncs of this branch",
    }
    assert detail.links()["All syncs of this branch"] == f"{SYNCS}?branch=main"


def test_it_links_each_problem_to_its_line_at_that_commit(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    commit = github.push(NAME, "main", {"configs/eval/maths.toml": BROKEN})
    run = check_all(agents)
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.text(".//h2[@id='problems-title']") == "1 problem at this commit"
    [problem] = detail.all(".//section/ul/li")
    [link] = problem.iter("a")
    assert link.get("href") == (
        f"{github.url}/{NAME}/blob/{commit}/configs/eval/maths.toml?plain=1#L1"
    )
