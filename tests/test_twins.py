"""The JSON twins of the Rollouts page, of one rollout and of a comparison."""

from typing import Any

import pytest
from django.test import Client

from rollouts_app.models import Repository, User, Workspace
from tests.conftest import FILES, counted_queries
from tests.github_emulator import GitHubEmulator
from tests.rollouts_page import client_of, names, part_for, seen_by
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db


def asked(user: User | None, path: str, status: int = 200) -> Any:
    answer = (client_of(user) if user else Client()).get(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/json")
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


@pytest.fixture
def dev(synced: Repository, github: GitHubEmulator) -> Repository:
    """`dev` has a changed maths, whose config is broken, and none of search."""
    files = {
        "rollouts/maths/pyproject.toml": '[project]\nname = "m"\nversion = "2"\nkeywords = ["Ü"]\n',
        "rollouts/search/README.md": None,
        "configs/eval/maths.toml": FILES["configs/eval/maths.toml"].replace("required", "requires"),
    }
    github.push(NAME, "dev", files, start="main")
    check_all(synced)
    return synced


def test_the_list_has_what_the_page_has(
    dev: Repository, github: GitHubEmulator, ada: User, settings: Any
) -> None:
    found = asked(ada, "/acme/rollouts?branch=dev&format=json")
    commit = github.heads(NAME)["dev"]
    [maths] = found.pop("rollouts")
    branch = found.pop("branch")
    assert found == {
        "workspace": "acme",
        "repository": NAME,
        "reason": None,
        "total_count": 1,
        "page": 1,
        "page_count": 1,
        "next": None,
        "problems": [],
    }
    assert all(branch.pop(time).endswith("+00:00") for time in ("checked_at", "synced_at"))
    assert branch == {
        "name": "dev",
        "is_default": False,
        "commit": commit,
        "deleted_at": None,
        "state": "fresh",
        "incoming_commit": None,
        "cause": None,
    }
    [unknown, wrong] = maths.pop("problems")
    assert (unknown["id"], unknown["line"], wrong["id"]) == (
        "config-unknown-key",
        8,
        "config-wrong-type",
    )
    page = f"{settings.PUBLIC_URL}/acme/rollouts/maths?branch=dev"
    assert maths == {
        "name": "maths",
        "description": None,
        "tags": ["Ü"],
        "tree": dev.rollouts.get(name="maths").versions.latest("pk").tree_id,
        "change": "changed",
        "config_kinds": ["eval"],
        "source_url": f"{github.url}/{NAME}/tree/{commit}/rollouts/maths",
        "page_url": page,
        "twin_url": f"{page}&format=json",
    }


@pytest.mark.parametrize(
    "query", ["", "q=sea", "show=problems", "sort=-name", "branch=dev&show=changed", "q=nothing"]
)
def test_search_filter_and_order_are_the_same(dev: Repository, ada: User, query: str) -> None:
    found = asked(ada, f"/acme/rollouts?{query}&format=json")
    shown = names(seen_by(ada, f"?{query}"))
    assert [each["name"] for each in found["rollouts"]] == shown
    assert found["reason"] == (None if shown else "no-match")


def test_all_pages_lead_on_to_the_next(
    synced: Repository, github: GitHubEmulator, ada: User, settings: Any
) -> None:
    github.push(NAME, "main", {f"rollouts/r{number:03}/main.py": "1" for number in range(119)})
    check_all(synced)
    found, address = [], "/acme/rollouts?q=r&format=json"
    while address:
        answer = asked(ada, address)
        found += [each["name"] for each in answer["rollouts"]]
        address = (answer["next"] or "").removeprefix(settings.PUBLIC_URL)
    assert len(found) == answer["total_count"] == 120
    assert found == sorted(found)


def test_one_rollout_has_all_that_its_page_tells(
    dev: Repository, github: GitHubEmulator, ada: User
) -> None:
    found = asked(ada, "/acme/rollouts/maths?branch=dev&format=json")
    commit = github.heads(NAME)["dev"]
    assert found["project"] == {"name": "m", "version": "2", "tags": ["Ü"]}
    assert [file["name"] for file in found["files"]] == ["main.py", "pyproject.toml"]
    [config] = found["configs"]
    assert (config["path"], config["model"]) == ("configs/eval/maths.toml", "openai/gpt-5-mini")
    assert found["other_branches"] == [{"name": "main", "is_same": False}]
    assert [each["commit"] for each in found["versions"]] == [commit]
    assert (found["name"], found["change"], found["readme"]) == ("maths", "changed", "")


def test_a_comparison_has_its_changes(dev: Repository, github: GitHubEmulator, ada: User) -> None:
    found = asked(ada, "/acme/compare?branch=dev&format=json")
    heads = github.heads(NAME)
    assert found["base"] == {"name": "main", "commit": heads["main"]}
    assert found["branch"] == {"name": "dev", "commit": heads["dev"]}
    assert [(each["name"], each["change"]) for each in found["changes"]] == [
        ("maths", "changed"),
        ("search", "removed"),
    ]


def test_faults_are_told_in_the_same_form(
    dev: Repository, ada: User, linus: User, mallory: User, github: GitHubEmulator
) -> None:
    unknown = asked(ada, "/acme/rollouts?branch=deb&format=json", 404)
    assert unknown == {
        "error": "No branch deb is known here.",
        "message": "No branch deb is known here.",
        "code": "NOT_FOUND",
        "nearest": ["dev"],
    }
    assert asked(ada, "/acme/compare?branch=deb&format=json", 404) == unknown
    lost = asked(ada, "/acme/rollouts/none?format=json", 404)
    assert lost["message"] == "There is no rollout none on main."
    assert asked(None, "/acme/rollouts?format=json", 401)["code"] == "AUTH_REQUIRED"
    assert asked(mallory, "/acme/rollouts?format=json", 404) == asked(
        mallory, "/nowhere/rollouts?format=json", 404
    )
    dev.workspace.memberships.filter(user=linus).update(may_read=False)
    assert asked(linus, "/acme/rollouts?format=json", 403)["code"] == "KEPT_OUT"


def test_without_a_repository_the_list_is_empty(ada: User, acme: Workspace) -> None:
    found = asked(ada, "/acme/rollouts?format=json")
    assert (found["repository"], found["reason"], found["rollouts"]) == (None, "not-connected", [])


def test_each_page_leads_to_its_twin(dev: Repository, ada: User) -> None:
    for path in ("/acme/rollouts?branch=dev&q=m", "/acme/compare?branch=dev"):
        link = f'<a id="twin" href="{path.replace("&", "&amp;")}&amp;format=json">JSON</a>'
        assert link in client_of(ada).get(path).text
    part = part_for(ada, "results", "?branch=dev&q=x")
    assert part.one(".//*[@id='twin']").get("href") == "/acme/rollouts?branch=dev&q=x&format=json"


def test_it_asks_no_more_than_the_page(dev: Repository, ada: User) -> None:
    client = client_of(ada)
    client.get("/acme/rollouts")
    with counted_queries() as page:
        client.get("/acme/rollouts?branch=dev")
    with counted_queries() as twin:
        client.get("/acme/rollouts?branch=dev&format=json")
    assert len(twin) <= len(page)
