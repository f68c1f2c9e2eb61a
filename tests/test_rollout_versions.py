"""The versions of a rollout that a branch has shown, from the history of its syncs."""

from hashlib import sha256

import pytest

from rollouts_app.models import Repository, User
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of, text_of
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

MARK = sha256(b"rollouts/maths/main.py").hexdigest()


def seen_by(user: User, query: str = "") -> Page:
    return page_of(client_of(user).get(f"/acme/rollouts/maths{query}"))


def versions(page: Page) -> list[str]:
    return [text_of(each.findall("./div")[0]) for each in page.all(".//ol/li")]


def push(synced: Repository, github: GitHubEmulator, text: str | None, message: str) -> str:
    commit = github.push(NAME, "main", {"rollouts/maths/main.py": text}, message=message)
    check_all(synced)
    return commit


def test_it_lists_what_the_branch_came_to_show(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """Pushes that left it alone are no versions; each leads to what changed in its folder."""
    first = github.heads(NAME)["main"]
    second = push(synced, github, "2", "Second <b>")
    github.push(NAME, "main", {"rollouts/search/main.py": "x"}, message="Not mine")
    check_all(synced)
    third = push(synced, github, "3", "Third")
    page = seen_by(ada)
    assert versions(page) == ["Third", "Second <b>", "Initial commit"]
    root = f"{github.url}/{NAME}"
    links = [link.get("href") for link in page.all(".//ol/li//a")]
    assert links == [
        f"{root}/commit/{third}",
        f"{root}/compare/{second}..{third}#diff-{MARK}",
        f"{root}/commit/{second}",
        f"{root}/compare/{first}..{second}#diff-{MARK}",
        f"{root}/commit/{first}",
    ]
    history = page.links()["All commits on GitHub"]
    assert history == f"{root}/commits/{third}/rollouts/maths"


def test_it_says_when_it_was_away(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    gone = dict.fromkeys(("rollouts/maths/main.py", "rollouts/maths/pyproject.toml"))
    github.push(NAME, "main", gone, message="Drop it")
    check_all(synced)
    push(synced, github, "2", "Bring it back")
    assert versions(seen_by(ada)) == ["Bring it back", "Removed Drop it", "Initial commit"]


def test_each_branch_has_versions_of_its_own(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "dev", {"rollouts/maths/main.py": "d"}, start="main", message="On dev")
    check_all(synced)
    assert versions(seen_by(ada, "?branch=dev")) == ["On dev"]
    heads = github.heads(NAME)
    assert seen_by(ada, "?branch=dev").links()["What differs from main on GitHub"] == (
        f"{github.url}/{NAME}/compare/{heads['main']}..{heads['dev']}#diff-{MARK}"
    )
    assert versions(seen_by(ada)) == ["Initial commit"]


def test_of_many_the_newest_are_shown(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    with counted_queries() as few:
        seen_by(ada)
    for number in range(6):
        push(synced, github, f"{number}", f"Version {number}")
    with counted_queries() as many:
        page = seen_by(ada)
    assert versions(page) == [f"Version {number}" for number in (5, 4, 3, 2, 1)]
    assert "Earlier ones on GitHub" in page.links()
    assert len(many) == len(few)
