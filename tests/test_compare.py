"""Two branches compared: which rollouts were added, changed and removed, each with its diff."""

from hashlib import sha256

import pytest

from rollouts_app.models import Repository, User
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of, text_of
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

ADDRESS = "/acme/compare"


def compared(user: User, query: str = "?branch=dev", status: int = 200) -> Page:
    return page_of(client_of(user).get(f"{ADDRESS}{query}"), status)


def changes(page: Page) -> dict[str, str]:
    """Rollout → change."""
    cells = [[text_of(cell) for cell in row] for row in page.all(".//tbody/tr")]
    return {name: kind for name, kind, _ in cells}


@pytest.fixture
def dev(synced: Repository, github: GitHubEmulator) -> Repository:
    """On `dev`: chess added, maths changed, search removed."""
    files = {
        "rollouts/chess/main.py": "1",
        "rollouts/maths/main.py": "2",
        "rollouts/search/README.md": None,
    }
    github.push(NAME, "dev", files, start="main")
    check_all(synced)
    return synced


def test_it_says_what_differs(dev: Repository, github: GitHubEmulator, ada: User) -> None:
    page = compared(ada)
    assert changes(page) == {"chess": "Added", "maths": "Changed", "search": "Removed"}
    heads = github.heads(NAME)
    links = page.links()
    root = f"{github.url}/acme/agents"
    mark = sha256(b"rollouts/maths/main.py").hexdigest()
    assert links["Diff of maths"] == f"{root}/compare/{heads['main']}..{heads['dev']}#diff-{mark}"
    assert links["Source of search"] == f"{root}/tree/{heads['main']}/rollouts/search"
    assert links["Source of chess"] == f"{root}/tree/{heads['dev']}/rollouts/chess"
    assert links["search"] == "/acme/rollouts/search?branch=main"
    assert links["Swap"] == "/acme/compare?branch=main&base=dev"


def test_the_other_way_round_added_is_removed(dev: Repository, ada: User) -> None:
    page = compared(ada, "?branch=main&base=dev")
    assert changes(page) == {"chess": "Removed", "maths": "Changed", "search": "Added"}


def test_equal_branches_are_called_so(dev: Repository, github: GitHubEmulator, ada: User) -> None:
    github.create_branch(NAME, "same", "main")
    check_all(dev)
    for query in ("", "?branch=same"):
        assert "hold the same rollouts." in compared(ada, query).text(".//main//h2")


def test_a_deleted_branch_can_still_be_compared(
    dev: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.delete_branch(NAME, "dev")
    check_all(dev)
    assert len(changes(compared(ada))) == 3


def test_unknown_branches_get_the_nearest_names(dev: Repository, ada: User) -> None:
    page = compared(ada, "?branch=devv&base=<b>", 404)
    assert page.texts(".//main//h2") == [
        "No branch <b> is known here.",
        "No branch devv is known here.",
    ]
    assert "Nearest names: dev" in page.text(".//main")


def test_many_come_by_fifty(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    files = {f"rollouts/r{number:03}/main.py": str(number) for number in range(120)}
    github.push(NAME, "dev", files, start="main")
    check_all(synced)
    assert [len(changes(compared(ada, f"?branch=dev&page={n}"))) for n in (1, 2, 3)] == [50, 50, 20]
    client = client_of(ada)
    client.get(ADDRESS)
    with counted_queries() as queries:
        client.get(f"{ADDRESS}?branch=dev")
    assert len(queries) <= 8


def test_the_list_leads_there(dev: Repository, ada: User) -> None:
    page = page_of(client_of(ada).get("/acme/rollouts?branch=dev"))
    assert page.links()["Compare with main"] == "/acme/compare?branch=dev"
    assert "Compare with main" not in page_of(client_of(ada).get("/acme/rollouts")).links()
