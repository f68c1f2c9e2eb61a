"""The branch picker: the default branch first, then the newest; searched on the server."""

from datetime import timedelta

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from rollouts_app.models import Branch, Repository, SyncRun, User
from rollouts_app.sync import engine
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of
from tests.rollouts_page import client_of
from tests.sign_in import enter
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db

ADDRESS = "/acme/branches"
PICKER = {"HX-Request": "true", "HX-Target": "branch-options"}
ENTER = {"HX-Request": "true", "HX-Target": "catalog"}
ODD = "experiment/100%-#1&ünï+x"


def picker(user: User, query: str = "") -> Page:
    return page_of(client_of(user).get(f"{ADDRESS}{query}", headers=PICKER))


def offered(page: Page) -> list[str]:
    return page.texts(".//li/a/span[@class='truncate']")


@pytest.fixture
def branches(agents: Repository, github: GitHubEmulator) -> Repository:
    """Branches that were changed one after another, main being the oldest."""
    names = ["main", "feature/reward", "f", "fix/eval", "Feature/Old", ODD]
    for name in names[1:]:
        github.create_branch(NAME, name, "main")
    engine.sync(agents.pk)
    for age, name in enumerate(reversed(names)):
        Branch.objects.filter(name=name).update(changed_at=now() - timedelta(hours=age))
    return agents


def test_it_offers_the_default_branch_first_then_the_newest(
    branches: Repository, ada: User
) -> None:
    assert offered(picker(ada)) == [
        *("main", ODD, "Feature/Old", "fix/eval", "f", "feature/reward")
    ]


def test_it_marks_the_branch_on_show_and_the_default(branches: Repository, ada: User) -> None:
    page = picker(ada, "?branch=fix%2Feval")
    assert page.texts(".//a[@aria-current='true']/span[@class='truncate']") == ["fix/eval"]
    [main] = [line for line in page.texts(".//li") if "default" in line]
    assert main == "main default 2 rollouts · 5 h ago"


def test_it_says_what_each_branch_holds(
    branches: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "f", {"rollouts/third/main.py": "3"})
    check_all(branches)
    lines = {line.partition(" ")[0]: line for line in picker(ada, "?q=f").texts(".//li")}
    assert lines["f"] == "f differs · 3 rollouts · just now"
    assert lines["fix/eval"].startswith("fix/eval 2 rollouts · ")


def test_it_offers_ones_own_branches_apart(
    branches: Repository, github: GitHubEmulator, ada: User, linus: User
) -> None:
    for name in ("fix/eval", "f"):
        commit = github.push(NAME, name, {"a": name}, author="linus")
        push_hint(branches, name, commit)
    SyncRun.objects.open().update(pusher="Linus")
    engine.sync(branches.pk)
    page = picker(linus)
    assert page.texts(".//h2") == ["Default", "Yours", "Recent"]
    assert offered(page)[:3] == ["main", "f", "fix/eval"]
    assert len(offered(page)) == len(set(offered(page))) == 6
    assert picker(ada).texts(".//h2") == ["Default", "Recent"]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("f", ["f", "Feature/Old", "fix/eval", "feature/reward"]),
        ("F", ["Feature/Old", "fix/eval", "f", "feature/reward"]),
        ("REW", ["feature/reward"]),
        ("%", [ODD]),
        ("_", []),
        ("%00", []),
    ],
)
def test_it_finds_the_exact_name_then_beginnings_then_the_rest(
    branches: Repository, ada: User, typed: str, names: list[str]
) -> None:
    """B07"""
    typed = typed if typed == "%00" else typed.replace("%", "%25")
    assert offered(picker(ada, f"?q={typed}")) == names


def test_it_says_when_no_branch_matches(branches: Repository, ada: User) -> None:
    assert picker(ada, "?q=<b>").text() == (
        "No branch contains “<b>”. A branch appears here once it has been pushed."
    )


def test_it_finds_the_last_of_many_and_shows_few(agents: Repository, ada: User) -> None:
    """B05"""
    engine.sync(agents.pk)
    main = agents.branches.get(name="main")
    Branch.objects.bulk_create(
        Branch(
            repository=agents,
            name=f"topic-{number:04}",
            commit=main.commit,
            catalog=main.catalog,
            changed_at=main.changed_at,
        )
        for number in range(3000)
    )
    assert offered(picker(ada, "?q=2999")) == ["topic-2999"]
    page = picker(ada)
    assert len(offered(page)) == 20
    assert page.texts(".//p")[-1] == "3001 branches match. Type more of the name."


def test_it_leaves_out_deleted_branches(
    branches: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.delete_branch(NAME, "f")
    check_all(branches)
    assert "f" not in offered(picker(ada))


def test_each_line_leads_to_its_branch(branches: Repository, ada: User) -> None:
    for link in picker(ada).all(".//li/a"):
        assert link.get("href") == link.get("hx-get")
        name = link.get("title")
        shown = page_of(client_of(ada).get(link.get("href") or ""))
        assert shown.text(".//*[@id='branch-button']/span[1]") == name


def test_enter_opens_the_first_that_matches(branches: Repository, ada: User) -> None:
    first = f"{ADDRESS}?open=first&q=rew"
    target = "/acme/rollouts?branch=feature%2Freward"
    assert client_of(ada).get(first).headers["Location"] == target
    assert client_of(ada).get(first, headers=ENTER).headers["Location"] == target


def test_enter_without_match_stays_where_it_is(branches: Repository, ada: User) -> None:
    nowhere = f"{ADDRESS}?open=first&q=nowhere"
    assert client_of(ada).get(nowhere, headers=ENTER).status_code == 204
    page = page_of(client_of(ada).get(nowhere))
    assert page.text(".//main//h2") == "No branch contains “nowhere”."


def test_it_is_a_page_of_its_own_without_script(
    branches: Repository, github: GitHubEmulator, ada: User
) -> None:
    page = page_of(client_of(ada).get(ADDRESS))
    assert page.texts(".//tbody//a[@class='branch-name']")[:2] == ["main", ODD]
    assert page.all(".//tbody//a[@class='sha']")[0].get("title") == github.heads(NAME)["main"]
    form = page_of(client_of(ada).get("/acme/rollouts")).one(".//*[@id='branches']/form")
    assert (form.get("action"), form.get("method")) == (ADDRESS, None)


def test_it_asks_as_few_queries_for_many_branches_as_for_one(agents: Repository, ada: User) -> None:
    engine.sync(agents.pk)
    client = client_of(ada)
    client.get(ADDRESS, headers=PICKER)
    with counted_queries() as few:
        client.get(ADDRESS, headers=PICKER)
    main = agents.branches.get(name="main")
    Branch.objects.bulk_create(
        Branch(repository=agents, name=f"b{n}", commit=main.commit, catalog=main.catalog)
        for n in range(30)
    )
    with counted_queries() as many:
        client.get(ADDRESS, headers=PICKER)
    assert len(few) == len(many) <= 8


def test_a_stranger_finds_nothing(branches: Repository, mallory: User) -> None:
    assert client_of(mallory).get(ADDRESS, headers=PICKER).status_code == 404


def test_it_goes_by_keyboard_alone(
    branches: Repository, ada: User, live: str, page: BrowserPage
) -> None:
    """B08, B09"""
    enter(page, live, ada)
    page.goto(f"{live}/acme/rollouts")
    button = page.get_by_role("button", name="Branch main, default: switch")
    button.press("Enter")
    field = page.get_by_role("searchbox", name="Find a branch")
    expect(field).to_be_focused()
    expect(page.get_by_role("link", name="fix/eval")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name=ODD)).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    button.press("Enter")
    page.keyboard.type("rew")
    page.keyboard.press("Enter")
    switched = page.get_by_role("button", name="Branch feature/reward: switch")
    expect(switched).to_be_focused()
    expect(page).to_have_url(f"{live}/acme/rollouts?branch=feature%2Freward")
    expect(page).to_have_title("Rollouts on feature/reward · acme")
    page.go_back()
    expect(button).to_be_visible()
    expect(page).to_have_title("Rollouts on main · acme")
