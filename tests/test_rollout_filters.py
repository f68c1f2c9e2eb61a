"""Search, filters and order of the Rollouts page: all of it in the address."""

import pytest

from rollouts_app.models import Repository, User
from tests.conftest import FILES, counted_queries
from tests.github_emulator import Content, GitHubEmulator
from tests.rollouts_page import ADDRESS, client_of, names, reason, seen_by
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

TAGGED = '[project]\nname = "chess"\nkeywords = ["Board games"]\n'


@pytest.fixture
def many(synced: Repository, github: GitHubEmulator) -> Repository:
    """On `dev`: maths as on main, search changed, chess added with a broken config."""
    files: dict[str, Content] = {
        "rollouts/search/README.md": "# Search\n\nOther.\n",
        "rollouts/chess/pyproject.toml": TAGGED,
        "configs/eval/chess.toml": FILES["configs/eval/maths.toml"].replace("maths", "chess")
        + "x=",
        "configs/training/maths.toml": '[experiment]\nrollout = "maths"\n',
    }
    github.push(NAME, "dev", files, start="main")
    check_all(synced)
    return synced


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["chess", "maths", "search"]),
        ("&q=board", ["chess"]),
        ("&show=problems", ["chess", "maths"]),
        ("&show=changed", ["chess", "search"]),
        ("&show=no-eval", ["search"]),
        ("&show=changed&q=sea", ["search"]),
        ("&sort=-name", ["search", "maths", "chess"]),
        ("&sort=problems", ["maths", "chess", "search"]),
        ("&show=nonsense&sort=nonsense", ["chess", "maths", "search"]),
    ],
)
def test_the_address_says_what_is_shown(
    many: Repository, ada: User, query: str, found: list[str]
) -> None:
    """B10, B12"""
    assert names(seen_by(ada, f"?branch=dev{query}")) == found


def test_the_menu_keeps_what_else_is_asked_for(many: Repository, ada: User) -> None:
    page = seen_by(ada, "?branch=dev&q=a&show=changed&sort=-name")
    links = {link.text: link.get("href") for link in page.all(".//*[@id='filter-menu']/a")}
    assert links == {
        "All rollouts": "?branch=dev&q=a&sort=-name",
        "With problems": "?branch=dev&q=a&show=problems&sort=-name",
        "Different from the default branch": "?branch=dev&q=a&show=changed&sort=-name",
        "Without eval config": "?branch=dev&q=a&show=no-eval&sort=-name",
        "By name": "?branch=dev&q=a&show=changed",
        "By name, backwards": "?branch=dev&q=a&show=changed&sort=-name",
        "Most problems first": "?branch=dev&q=a&show=changed&sort=problems",
    }
    hidden = {
        field.get("name"): field.get("value")
        for field in page.all(".//form[@class='search']/input[@type='hidden']")
    }
    assert hidden == {"branch": "dev", "show": "changed", "sort": "-name"}


def test_nothing_is_changed_against_itself(many: Repository, ada: User) -> None:
    page = seen_by(ada)
    words = page.texts(".//*[@id='filter-menu']/a")
    assert "Different from the default branch" not in words
    assert reason(seen_by(ada, "?show=changed")) == (
        "No rollout on main differs from the default branch."
    )


def test_an_empty_answer_leads_back_to_all(many: Repository, ada: User) -> None:
    page = seen_by(ada, "?branch=dev&show=no-eval&q=zzz")
    assert reason(page) == "No rollout on dev lacks an eval config and matches “zzz”."
    assert page.links()["Show all rollouts"] == f"{ADDRESS}?branch=dev"


@pytest.mark.parametrize("query", ["?show=problems&sort=problems", "?branch=dev&show=no-eval&q=a"])
def test_it_asks_eight_queries_at_most(many: Repository, ada: User, query: str) -> None:
    client = client_of(ada)
    client.get(f"{ADDRESS}{query}")
    with counted_queries() as queries:
        client.get(f"{ADDRESS}{query}")
    assert len(queries) <= 8
