"""The sync history, filtered: by branch, text, state and trigger, all in the address."""

from urllib.parse import quote

import pytest
from django.test import Client

from rollouts_app.models import Branch, Repository, SyncRun, User
from tests.conftest import Read, counted_queries
from tests.history import SYNCS, make_runs
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db

FORM = {"HX-Request": "true", "HX-Target": "history", "HX-Trigger": "filters"}


def make_run(repository: Repository, branch: str, **facts: str) -> SyncRun:
    """A run of that branch that has ended."""
    make_runs(repository, 1, **facts)
    run = SyncRun.objects.latest("pk")
    run.branch, _ = Branch.objects.get_or_create(repository=repository, name=branch)
    run.save()
    return run


@pytest.fixture
def history(agents: Repository) -> dict[str, SyncRun]:
    """Runs of some kinds, by a name for each."""
    reward = {"branch": "feature/reward", "author": "Linus T", "commit": "a1b2c3d" + "0" * 33}
    return {
        "found": make_run(agents, "main", trigger="timer", subject="Fix the grader"),
        "reward": make_run(agents, subject="Reward more", **reward),
        "rewards": make_run(agents, "feature/rewards", state="failed", reason="No.", pusher="ada"),
        "failed": make_run(
            agents, "main", state="failed", reason="No.", pusher="linus", commit="f" * 40
        ),
    }


def shown(page: Page, history: dict[str, SyncRun]) -> set[str]:
    """The names of the runs on the page."""
    names = {f"run-{run.pk}": name for name, run in history.items()}
    return {names[link.get("id", "")] for link in page.all(".//tbody//a[@class='title']")}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"found", "reward", "rewards", "failed"}),
        ("?branch=main", {"found", "failed"}),
        ("?branch=feature/reward", {"reward"}),
        ("?branch=Main", set()),
        ("?q=REWARD", {"reward", "rewards"}),
        ("?q=grader", {"found"}),
        ("?q=linus", {"reward", "failed"}),
        ("?q=A1B2", {"reward"}),
        ("?q=b2c3", set()),
        ("?q=%25", set()),
        ("?state=failed", {"rewards", "failed"}),
        ("?trigger=timer", {"found"}),
        ("?trigger=push&state=failed&branch=main&q=linus", {"failed"}),
        ("?state=failed&trigger=timer", set()),
        ("?q=%00", set()),
    ],
)
def test_it_shows_what_the_address_asks_for(
    read: Read, history: dict[str, SyncRun], query: str, expected: set[str]
) -> None:
    assert shown(read(f"{SYNCS}{query}"), history) == expected


def test_it_says_what_is_set_and_how_each_is_cleared(
    read: Read, history: dict[str, SyncRun]
) -> None:
    address = f"{SYNCS}?branch=main&q=linus&state=failed&trigger=push&page=1"
    page = read(address)
    assert page.text(".//*[@id='filtered']") == "1 sync main linus Failed Push Clear all"
    links = page.one(".//*[@id='filtered']").iter("a")
    assert [link.get("href") for link in links] == [
        "?q=linus&state=failed&trigger=push",
        "?branch=main&state=failed&trigger=push",
        "?branch=main&q=linus&trigger=push",
        "?branch=main&q=linus&state=failed",
        SYNCS,
    ]
    assert page.one(".//input[@name='q']").get("value") == "linus"
    assert page.one(".//input[@name='branch']").get("value") == "main"
    chosen = [
        option.get("value") for option in page.all(".//option") if "selected" in option.attrib
    ]
    assert chosen == ["failed", "push"]
    assert read(SYNCS).all(".//*[@id='filtered']") == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?state=cancelled", "There is no cancelled sync."),
        ("?state=issues&branch=main", "There is no sync with issues of main."),
        ("?branch=nope", "There is no sync of nope."),
        ("?trigger=connected", "There is no sync that belongs to the first one."),
        ("?q=zzz", "No sync matches “zzz”."),
        (
            "?q=zzz&state=failed&branch=main&trigger=push",
            "No failed sync of main asked for by a push matches “zzz”.",
        ),
    ],
)
def test_it_says_which_filter_finds_nothing(
    read: Read, history: dict[str, SyncRun], query: str, sentence: str
) -> None:
    page = read(f"{SYNCS}{query}")
    assert page.text(".//*[@class='blankslate']/h2") == sentence
    [clear] = page.one(".//*[@class='blankslate']").iter("a")
    assert clear.get("href") == SYNCS


def test_it_names_values_that_mean_nothing_and_ignores_them(
    read: Read, history: dict[str, SyncRun]
) -> None:
    page = read(f"{SYNCS}?state=<b>&trigger=x&branch=main")
    assert page.texts(".//*[@id='history']/p[@class='state attention']") == [
        "There is no status “<b>”: it is ignored.",
        "There is no trigger “x”: it is ignored.",
    ]
    assert shown(page, history) == {"found", "failed"}


def test_it_keeps_the_filters_over_pages_and_while_it_polls(read: Read, agents: Repository) -> None:
    make_runs(agents, 60)
    make_runs(agents, 60, state="failed", reason="No.")
    page = read(f"{SYNCS}?state=failed&page=2", part=True)
    assert len(page.all(".//tbody/tr")) == 10
    assert page.one(".//a[@rel='prev']").get("href") == "?state=failed&page=1"
    assert page.one(".//*[@id='history']").get("hx-get") == f"{SYNCS}?state=failed&page=2"


def test_its_form_leaves_no_empty_filter_in_the_address(
    ada: User, history: dict[str, SyncRun]
) -> None:
    client = Client()
    client.force_login(ada)
    typed = client.get(f"{SYNCS}?q=fix+it&state=&trigger=branch+created", headers=FORM)
    assert typed.headers["HX-Replace-Url"] == f"{SYNCS}?q=fix+it&trigger=branch+created"
    cleared = client.get(f"{SYNCS}?q=&state=&trigger=", headers=FORM)
    assert cleared.headers["HX-Replace-Url"] == SYNCS
    assert [child.get("id") for child in page_of(cleared).root] == ["history"]
    polled = client.get(f"{SYNCS}?state=failed", headers={**FORM, "HX-Trigger": "history"})
    assert "HX-Replace-Url" not in polled.headers


def test_a_hostile_branch_name_is_a_value_like_any_other(read: Read, agents: Repository) -> None:
    name = "x&state=failed#<b>%00"
    run = make_run(agents, name)
    page = read(f"{SYNCS}?branch={quote(name, safe='')}")
    assert shown(page, {"odd": run}) == {"odd"}
    assert page.text(".//*[@id='filtered']").startswith(f"1 sync {name} ")
    [label, _] = page.one(".//*[@id='filtered']").iter("a")
    assert label.get("href") == "?"


def test_filters_cost_no_more_queries(read: Read, history: dict[str, SyncRun]) -> None:
    address = f"{SYNCS}?branch=main&q=linus&state=failed&trigger=push"
    read(address)
    with counted_queries() as plain:
        read(SYNCS)
    with counted_queries() as filtered:
        read(address)
    assert len(filtered) == len(plain)
