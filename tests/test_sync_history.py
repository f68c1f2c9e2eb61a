"""The sync history, and one sync of it: what came, from whom, when, and what went wrong."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from rollouts_app.models import Branch, Membership, Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from rollouts_app.templatetags.rollouts import exact
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "acme/agents"
ADDRESS = "/acme/integrations/git"
SYNCS = f"{ADDRESS}/syncs"
BROKEN = "[experiment\n"
HOSTILE = "<script>alert(1)</script>\"'&amp;<b>"


Read = Callable[..., Page]


@pytest.fixture
def read(ada: User) -> Read:
    """Opens an address as Ada; or the part of it that htmx gets."""

    def open_address(address: str, *, part: bool = False) -> Page:
        client = Client()
        client.force_login(ada)
        return page_of(client.get(address, headers={"HX-Request": "true"} if part else {}))

    return open_address


def check_all(repository: Repository) -> SyncRun:
    """Sync all branches; the newest run."""
    repository.request_full_check()
    engine.sync(repository.pk)
    return SyncRun.objects.order_by("-pk")[0]


def make_runs(repository: Repository, count: int, **facts: Any) -> None:
    """Runs that have ended, on one branch."""
    branch, _ = Branch.objects.get_or_create(repository=repository, name="main")
    long_ago = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
    ended = {
        "state": "success",
        "trigger": "push",
        "requested_at": long_ago,
        "started_at": long_ago + timedelta(seconds=1),
        "finished_at": long_ago + timedelta(seconds=3.5),
    }
    SyncRun.objects.bulk_create(
        SyncRun(repository=repository, branch=branch, **{**ended, **facts}) for _ in range(count)
    )


def cells(page: Page) -> list[list[str]]:
    """The table's texts, by row."""
    found = []
    for number in range(1, len(page.all(".//tbody/tr")) + 1):
        found.append(page.texts(f".//tbody/tr[{number}]/td"))
    return found


def test_it_tells_of_a_push(read: Read, agents: Repository, github: GitHubEmulator) -> None:
    engine.sync(agents.pk)
    added = {"rollouts/chess/main.py": "…"}
    commit = github.push(NAME, "main", added, message="Add chess\n\nAt last.", author="linus")
    run = check_all(agents)
    [newest, first] = cells(read(ADDRESS))
    assert newest[:5] == ["Success", "main", f"{commit[:7]} Add chess", "Linus T", "2 → 3 rollouts"]
    assert re.fullmatch(r"just now \d+(\.\d s| ms)", newest[5])
    assert (first[0], first[4]) == ("Success", "2 rollouts")
    row = read(ADDRESS).one(".//tbody/tr[1]")
    assert [link.get("href") for link in row.iter("a")] == [
        "/acme/rollouts?branch=main",
        f"{github.url}/{NAME}/commit/{commit}",
        f"{SYNCS}/{run.pk}",
    ]


def test_it_shows_the_exact_time_in_titles(read: Read, agents: Repository) -> None:
    make_runs(agents, 1)
    [time] = read(SYNCS).all(".//tbody//time")
    assert time.get("title") == "2026-08-20 12:00:03 UTC"
    assert time.get("datetime") == "2026-08-20T12:00:03.500000+00:00"
    assert read(SYNCS).text(".//tbody//td[6]").endswith(" 2.5 s")


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (
            {"state": "pending", "started_at": None, "finished_at": None, "pusher": "linus"},
            ["Pending", "main", "Push", "linus"],
        ),
        ({"state": "syncing", "finished_at": None}, ["Syncing", "main", "Push", ""]),
        ({"state": "issues", "subject": "Fix"}, ["With issues", "main", "Fix", ""]),
        ({"state": "failed", "reason": "No."}, ["Failed", "main", "Push No.", ""]),
        (
            {"state": "superseded", "trigger": "timer"},
            ["Superseded", "main", "Check by the timer", ""],
        ),
        ({"trigger": "sync now"}, ["Success", "main", "Sync now", ""]),
        ({"trigger": "connected"}, ["Success", "main", "First sync", ""]),
        ({"trigger": "branch created"}, ["Success", "main", "New branch", ""]),
    ],
    ids=str,
)
def test_it_has_words_for_every_state(
    read: Read, agents: Repository, facts: dict[str, Any], shown: list[str]
) -> None:
    make_runs(agents, 1, **facts)
    [row] = cells(read(SYNCS))
    assert row[:4] == shown
    assert row[4] == "–"


def test_it_gives_a_failure_its_reason(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    branch = agents.branches.get(name="main")
    run = SyncRun.objects.request(branch, "push", commit="1" * 40, pusher="linus")
    github.trouble(f"/{NAME}.git", status=403)
    engine.sync(agents.pk)
    run.refresh_from_db()
    assert cells(read(SYNCS))[0][:3] == ["Failed", "main", f"1111111 Push {run.reason}"]
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.texts(".//*[@id='run']/*[@class='notice danger']//p")[:2] == [
        "This sync failed. The branch shows what it showed before.",
        run.reason,
    ]
    assert detail.actions() == [f"{ADDRESS}/sync-now"]
    assert detail.text(".//*[@class='box-body muted']") == (
        "This sync did not get as far as reading rollouts."
    )


def test_it_pages_by_fifty(read: Read, agents: Repository) -> None:
    make_runs(agents, 101)
    assert len(read(ADDRESS).all(".//tbody/tr")) == 20
    assert len(read(SYNCS).all(".//tbody/tr")) == 50
    second = read(f"{SYNCS}?page=2")
    assert len(second.all(".//tbody/tr")) == 50
    assert second.text(".//nav[@class='pager']/span") == "Page 2 of 3"
    assert second.one(".//a[@rel='next']").get("href") == "?page=3"
    assert second.one(".//*[@id='history']").get("hx-get") == f"{SYNCS}?page=2"
    for odd in ("4", "0", "x"):
        assert read(f"{SYNCS}?page={odd}").text(".//h1") == "Sync history"


@pytest.mark.parametrize("address", [ADDRESS, SYNCS])
def test_it_asks_the_same_number_of_queries_for_1_and_30_runs(
    read: Read, agents: Repository, github: GitHubEmulator, address: str
) -> None:
    engine.sync(agents.pk)
    read(address)
    with counted_queries() as one:
        assert len(read(address).all(".//tbody/tr")) == 1
    catalog = agents.branches.get(name="main").catalog
    make_runs(agents, 29, catalog_before=catalog, catalog_after=catalog)
    github.push(NAME, "other", {"rollouts/chess/main.py": "…"}, start="main")
    check_all(agents)
    with counted_queries() as thirty:
        assert len(read(address).all(".//tbody/tr")) == (20 if address == ADDRESS else 31)
    assert len(thirty) == len(one)


def test_it_says_when_nothing_was_synced_yet(read: Read, agents: Repository) -> None:
    assert read(SYNCS).text(".//*[@class='blankslate']") == (
        "Nothing has been synced yet. GitHub is being asked for the branches."
    )
    agents.drop_full_check()
    assert (
        read(SYNCS).text(".//*[@class='blankslate']").endswith("or Sync now, begins this history.")
    )


def test_it_asks_again_only_while_a_run_of_the_page_is_open(read: Read, agents: Repository) -> None:
    agents.drop_full_check()
    make_runs(agents, 50)
    make_runs(agents, 1, state="syncing", finished_at=None)
    open_run = SyncRun.objects.open().get()
    idle = "sync-asked from:body, tab-shown from:body"
    triggers = {
        address: read(address, part=True).root[0].get("hx-trigger")
        for address in (SYNCS, f"{SYNCS}?page=2", f"{SYNCS}/{open_run.pk}")
    }
    assert triggers == {
        SYNCS: f"every 2s, {idle}",
        f"{SYNCS}?page=2": idle,
        f"{SYNCS}/{open_run.pk}": f"every 2s, {idle}",
    }


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
    assert detail.text(".//*[@class='box-head']/span") == "2 rollouts"


def test_it_says_what_a_new_branch_is_compared_with(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.push(NAME, "feature/x", {"rollouts/chess/main.py": "…"}, start="main")
    run = check_all(agents)
    assert cells(read(ADDRESS))[0][4] == "2 → 3 rollouts"
    head = ".//*[@id='run']//*[@class='box-head']/span"
    assert read(f"{SYNCS}/{run.pk}").texts(head) == [
        "against main, as this branch is new",
        "2 → 3 rollouts",
    ]
    github.push(NAME, "feature/x", {"a": "b"})
    run = check_all(agents)
    assert read(f"{SYNCS}/{run.pk}").texts(head) == ["3 rollouts"]


def test_it_gives_the_facts_of_one_sync_exactly(read: Read, agents: Repository) -> None:
    make_runs(agents, 1, commit="1" * 40, author="Linus T", pusher="linus", attempts=2)
    run = SyncRun.objects.get()
    facts = read(f"{SYNCS}/{run.pk}").facts()
    ago = {name: facts.pop(name).partition(" · ")[0] for name in ("Asked for", "Begun", "Ended")}
    assert ago == {
        "Asked for": exact(run.requested_at),
        "Begun": exact(run.started_at),
        "Ended": exact(run.finished_at),
    }
    assert facts == {
        "Branch": "main",
        "Commit": "1111111",
        "Author": "Linus T",
        "Cause": "A push by linus",
        "Took": "2.5 s",
        "Attempts": "2",
    }


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


def test_it_links_to_the_repositorys_name_of_today(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    Repository.objects.update(full_name="acme/robots")
    [sha] = read(ADDRESS).all(".//tbody//a[@class='sha']")
    assert sha.get("href", "").startswith(f"{github.url}/acme/robots/commit/")


def test_it_shows_no_sync_of_another_workspace(agents: Repository, mallory: User) -> None:
    engine.sync(agents.pk)
    own = Workspace.objects.create(slug="own")
    Membership.objects.create(workspace=own, user=mallory, role="owner")
    installation = agents.installation
    Repository.objects.create(
        workspace=own, installation=installation, github_id=5, full_name="own/own"
    )
    client = Client()
    client.force_login(mallory)
    run = SyncRun.objects.get()
    assert client.get(f"/own/integrations/git/syncs/{run.pk}").status_code == 404
    assert client.get(f"{SYNCS}/{run.pk}").status_code == 404


def test_names_and_messages_are_only_ever_text(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    branch = "x<img/src=x>&y"
    github.add_user("eve", name=HOSTILE, email="eve@acme.example")
    files = {"rollouts/<b>bold": None, "rollouts/<b>bold/main.py": "…"}
    github.push(NAME, branch, files, start="main", message=HOSTILE, author="eve")
    check_all(agents)
    # git takes angle brackets out of names; others may not.
    SyncRun.objects.update(author=HOSTILE, pusher=HOSTILE)
    run = SyncRun.objects.get(branch__name=branch)
    for address in (ADDRESS, SYNCS, f"{SYNCS}/{run.pk}"):
        for seen in (read(address).one(".//main"), read(address, part=True).root):
            assert {element.tag for element in seen.iter()} & {"script", "b", "img"} == set()
    row = next(row for row in cells(read(SYNCS)) if row[1] == branch)
    assert row[2:4] == [f"{run.commit[:7]} {HOSTILE}", HOSTILE]
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.text(".//title").startswith(HOSTILE)
    assert cells(detail)[0] == ["<b>bold on GitHub", "Added"]
    assert detail.links()[branch] == "/acme/rollouts?branch=x%3Cimg%2Fsrc%3Dx%3E%26y"
