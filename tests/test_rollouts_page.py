"""The Rollouts page: what a branch holds, or why there is nothing to show."""

from datetime import timedelta
from urllib.parse import quote, unquote, urlsplit

import pytest
from django.test import Client, override_settings
from django.utils.timezone import now

from rollouts_app.models import Repository, User
from tests.conftest import counted_queries
from tests.github_emulator import Content, GitHubEmulator
from tests.pages import page_of, text_of
from tests.rollouts_page import (
    ADDRESS,
    BROKEN_CONFIG,
    NO_ROLLOUTS,
    badges,
    client_of,
    names,
    part_for,
    reason,
    seen_by,
)
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db


def test_it_lists_the_rollouts_of_the_default_branch(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    page = seen_by(ada)
    commit = github.heads(NAME)["main"]
    rows = [[text_of(cell) for cell in row] for row in page.all(".//tbody/tr")]
    assert rows == [
        ["maths on GitHub Sums.", "eval", commit[:7], "just now", ""],
        ["search on GitHub Finds things.", "", commit[:7], "just now", ""],
    ]
    assert page.texts(".//thead//th") == [
        *("Name", "Configs", "Last synced commit", "Last synced", "Details")
    ]
    assert page.text(".//title") == "Rollouts on main · acme"


def test_a_name_leads_to_its_source_at_the_synced_commit(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    page = seen_by(ada)
    commit = github.heads(NAME)["main"]
    assert [link.get("href") for link in page.all(".//a[@class='title']")] == [
        f"{github.url}/acme/agents/tree/{commit}/rollouts/{name}" for name in ("maths", "search")
    ]
    sha = page.all(".//a[@class='sha']")[0]
    assert (sha.get("href"), sha.get("title")) == (
        f"{github.url}/acme/agents/commit/{commit}",
        commit,
    )
    assert [link.get("href") for link in page.all(".//td[@class='open']/a")] == [
        "/acme/rollouts/maths?branch=main",
        "/acme/rollouts/search?branch=main",
    ]


def test_its_links_follow_a_renamed_repository(synced: Repository, ada: User) -> None:
    Repository.objects.update(full_name="acme/bots")
    links = [link.get("href", "") for link in seen_by(ada).all(".//a[@class='title']")]
    assert {link.split("/tree/")[0].rpartition("/")[2] for link in links} == {"bots"}


@pytest.mark.parametrize(
    "name", ["a b", "<script>alert(1)</script>", '"><img src=x onerror=x>', "100%#1&?x+y", "ünï 码"]
)
def test_a_hostile_name_is_inert_and_leads_to_its_own_source(
    synced: Repository, github: GitHubEmulator, ada: User, name: str
) -> None:
    name = name.replace("/", "|")
    commit = github.push(NAME, "main", {f"rollouts/{name}/main.py": "x"})
    check_all(synced)
    page = seen_by(ada)
    assert sorted(names(page)) == sorted([name, "maths", "search"])
    assert page.all(".//main//script") == page.all(".//img") == []
    links = {link.get("href") for link in page.all(".//a[@class='title']")}
    assert f"{github.url}/acme/agents/tree/{commit}/rollouts/{quote(name, safe='')}" in links
    details = [link.get("href") or "" for link in page.all(".//td[@class='open']/a")]
    [address] = [each for each in details if unquote(urlsplit(each).path) == f"{ADDRESS}/{name}"]
    assert page_of(client_of(ada).get(address)).text(".//h1") == name


def test_hidden_characters_of_a_name_are_shown(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "main", {"rollouts/ma\u202eths/main.py": "x"})
    check_all(synced)
    assert names(seen_by(ada)) == ["maths", "ma\\u202eths", "search"]


def test_it_marks_what_differs_from_the_default_branch(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    changes: dict[str, Content] = {
        "rollouts/maths/main.py": "print('more maths')\n",
        "rollouts/chess/main.py": "print('chess')\n",
    }
    github.push(NAME, "feature/x", changes, start="main")
    check_all(synced)
    assert badges(seen_by(ada, "?branch=feature%2Fx")) == {"chess": "Added", "maths": "Changed"}
    assert badges(seen_by(ada)) == {}


def test_a_problem_comes_before_a_change(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    broken: dict[str, Content] = {
        "rollouts/maths/pyproject.toml": "[project\n",
        "configs/eval/maths.toml": BROKEN_CONFIG,
    }
    github.push(NAME, "feature/x", broken, start="main")
    check_all(synced)
    assert badges(seen_by(ada, "?branch=feature%2Fx")) == {"maths": "2 problems"}


def test_a_warning_is_called_one(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    github.push(NAME, "main", {"rollouts/search/README.md": b"caf\xe9"})
    check_all(synced)
    assert badges(seen_by(ada)) == {"search": "1 warning"}


def test_one_notice_tells_of_configs_that_belong_to_no_rollout(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    lost: dict[str, Content] = {
        "configs/eval/chess.toml": '[experiment]\nrollout = "chess"\n',
        "configs/training/broken.toml": BROKEN_CONFIG,
    }
    commit = github.push(NAME, "main", lost)
    check_all(synced)
    page = seen_by(ada)
    [notice] = page.all(".//*[@id='results']/*[@class='notice attention messages']")
    assert (
        text_of(notice.findall(".//summary")[0]) == "2 configs belong to no rollout on this branch"
    )
    blob = f"{github.url}/acme/agents/blob/{commit}"
    assert [link.get("href") for link in notice.iter("a")] == [
        f"{blob}/configs/eval/chess.toml?plain=1#L2",
        f"{blob}/configs/training/broken.toml?plain=1#L1",
    ]
    assert badges(page) == {}


def test_it_searches_names_and_descriptions(synced: Repository, ada: User) -> None:
    assert names(seen_by(ada, "?q=MATH")) == ["maths"]
    assert names(seen_by(ada, "?q=finds")) == ["search"]
    assert seen_by(ada, "?q=finds").one(".//*[@id='q']").get("value") == "finds"


def test_a_search_without_match_can_be_cleared(synced: Repository, ada: User) -> None:
    page = seen_by(ada, "?q=fo%00o<b>")
    assert reason(page) == "No rollout on main matches “fo\ufffdo<b>”."
    assert page.links()["Clear search"] == "/acme/rollouts?branch=main"


def test_it_pages_by_fifty(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    many: dict[str, Content] = {f"rollouts/r{n:02}/main.py": f"{n}" for n in range(60)}
    github.push(NAME, "main", {**NO_ROLLOUTS, **many})
    check_all(synced)
    first, second = seen_by(ada), seen_by(ada, "?page=2")
    assert names(first) == [f"r{n:02}" for n in range(50)]
    assert names(second) == [f"r{n:02}" for n in range(50, 60)]
    assert names(seen_by(ada, "?page=99")) == names(second)
    assert names(seen_by(ada, "?page=x")) == names(first)
    assert first.links()["Next"] == "?page=2"
    assert second.text(".//nav[@class='pager']/span") == "Page 2 of 2"


def test_each_place_gets_its_part(synced: Repository, ada: User) -> None:
    whole = seen_by(ada)
    assert len(whole.all(".//header")) == 1
    switched = part_for(ada, "catalog")
    assert [each.tag for each in switched.root] == ["title", "div", "a"]
    assert switched.one("./div").get("id") == "catalog"
    refreshed = part_for(ada, "results")
    assert [each.tag for each in refreshed.root] == ["title", "div", "a"]
    assert refreshed.one("./div").get("id") == "results"
    assert part_for(ada, "anything").one("./div").get("id") == "catalog"


def test_back_gets_the_whole_page_and_nothing_is_kept(synced: Repository, ada: User) -> None:
    """U02, U06"""
    restore = {"HX-Request": "true", "HX-History-Restore-Request": "true", "HX-Target": "catalog"}
    response = client_of(ada).get(ADDRESS, headers=restore)
    assert len(page_of(response).all(".//header")) == 1
    assert response["Cache-Control"] == "no-store"
    varying = {name.strip() for name in response["Vary"].split(",")}
    assert varying >= {"HX-Request", "HX-Target", "HX-History-Restore-Request", "HX-Boosted"}


def test_an_expired_session_leads_from_a_part_to_sign_in_and_back(synced: Repository) -> None:
    response = Client().get(
        f"{ADDRESS}?branch=main",
        headers={
            "HX-Request": "true",
            "HX-Target": "results",
            "HX-Current-URL": f"http://testserver{ADDRESS}?branch=main&q=x",
        },
    )
    assert response["HX-Redirect"] == (
        "/accounts/login/?next=%2Facme%2Frollouts%3Fbranch%3Dmain%26q%3Dx"
    )
    assert response.content == b""


@pytest.mark.parametrize("path", ["", "/maths", "?branch=main"])
def test_a_stranger_finds_nothing(synced: Repository, mallory: User, path: str) -> None:
    assert client_of(mallory).get(f"{ADDRESS}{path}").status_code == 404


def test_it_asks_as_few_queries_for_thirty_rollouts_as_for_one(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    one: dict[str, Content] = {**NO_ROLLOUTS, "rollouts/r00/main.py": "0"}
    github.push(NAME, "one", one, start="main")
    many: dict[str, Content] = {f"rollouts/r{n:02}/main.py": f"{n}" for n in range(30)}
    configs: dict[str, Content] = {
        f"configs/eval/r{n:02}.toml": f'[experiment]\nrollout = "r{n:02}"\n' for n in range(30)
    }
    lost: dict[str, Content] = {"configs/eval/lost.toml": BROKEN_CONFIG}
    github.push(NAME, "many", {**NO_ROLLOUTS, **many, **configs, **lost}, start="main")
    check_all(synced)
    counts = {}
    for branch in ("one", "many"):
        for query in ("", "&q=r0"):
            client = client_of(ada)
            client.get(ADDRESS)
            with counted_queries() as queries:
                client.get(f"{ADDRESS}?branch={branch}{query}")
            counts[branch, query] = len(queries)
    assert counts["one", ""] == counts["many", ""] <= 8
    assert counts["one", "&q=r0"] == counts["many", "&q=r0"] <= 8


def test_it_says_when_the_worker_does_not_look(synced: Repository, ada: User) -> None:
    long_ago = now() - timedelta(days=2)
    Repository.objects.update(heads_checked_at=long_ago)
    synced.branches.update(changed_at=long_ago)
    line = seen_by(ada).text(".//*[@id='freshness']")
    assert "the worker of this server does not look." in line


@override_settings(GITHUB_URL="https://git.example")
def test_the_twin_in_the_terminal_is_left_out_where_it_cannot_work(
    synced: Repository, ada: User
) -> None:
    page = seen_by(ada)
    assert page.all(".//*[@id='list-command']") == []
    assert page.texts(".//details[@class='about']//p") == [
        "The osmosis command lists rollouts of repositories on github.com only."
    ]
