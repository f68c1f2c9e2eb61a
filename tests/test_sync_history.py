"""The sync history: what came, on which branch, from whom, when, and what went wrong."""

import re
from typing import Any

import pytest
from django.test import Client

from rollouts_app.models import Membership, Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from tests.conftest import Read, counted_queries
from tests.github_emulator import GitHubEmulator
from tests.history import ADDRESS, SYNCS, cells, check_all, make_runs
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>\"'&amp;<b>"


def test_it_tells_of_a_push(read: Read, agents: Repository, github: GitHubEmulator) -> None:
    engine.sync(agents.pk)
    added = {"rollouts/chess/main.py": "…"}
    commit = github.push(NAME, "main", added, message="Add chess\n\nAt last.", author="linus")
    run = check_all(agents)
    [newest, first] = cells(read(ADDRESS))
    assert newest[:5] == [
        "Success",
        "main",
        f"{commit[:7]} Add chess Recovered: the webhook never arrived",
        "Linus T",
        "2 → 3 rollouts",
    ]
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
    assert detail.actions() == [f"{SYNCS}/{run.pk}/retry"]
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
    agents.refresh_from_db()
    agents.drop_full_check()
    assert (
        read(SYNCS).text(".//*[@class='blankslate']").endswith("or Sync now, begins this history.")
    )


def test_it_asks_again_only_while_a_run_of_the_page_is_open(read: Read, agents: Repository) -> None:
    agents.refresh_from_db()
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
    assert row[2:4] == [f"{run.commit[:7]} {HOSTILE} First sync", HOSTILE]
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.text(".//title").startswith(HOSTILE)
    assert cells(detail)[0] == ["<b>bold on GitHub", "Added"]
    assert detail.links()[branch] == "/acme/rollouts?branch=x%3Cimg%2Fsrc%3Dx%3E%26y"
