"""Onboarding: from signing in to the clone, step by step, each read from live state."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from rollouts_app.models import Membership, Repository, User, Workspace
from rollouts_app.sync import engine
from tests.conftest import FILES, Browser
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, CONNECT, DISMISS, HTMX, at_github, messages_of, steps
from tests.pages import page_of

pytestmark = pytest.mark.django_db


def test_it_begins_with_a_workspace(ada: User, browser_of: Browser) -> None:
    page = page_of(browser_of(ada).get("/onboarding"))
    assert page.text(".//h1") == "Set up a workspace"
    assert steps(page) == [
        "open: Workspace",
        "later: GitHub and repository",
        "later: First sync",
        "later: Clone",
    ]
    assert page.text(".//*[@id='steps']/p") == "0 of 4 steps done"
    assert page.actions() == ["/onboarding/workspace"]


def test_it_creates_the_workspace_and_goes_on(ada: User, browser_of: Browser) -> None:
    client = browser_of(ada)
    answer = client.post("/onboarding/workspace", {"slug": "acme"})
    assert answer.headers["Location"] == AT_ACME
    membership = Membership.objects.get()
    assert (membership.workspace.slug, membership.user, membership.role) == ("acme", ada, "owner")
    page = page_of(client.get(AT_ACME))
    assert steps(page)[:2] == ["done: Done: Workspace acme", "open: GitHub and repository"]


RULE = "Use lower-case letters, digits and dashes, with a letter or digit at both ends."


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        ("Acme", RULE),
        ("-acme", RULE),
        ("a_b", RULE),
        ("", "This field is required."),
        ("static", "“static” is an address of this server. Choose another name."),
        ("taken", "The name taken is taken. Choose another one."),
        ("a" * 65, RULE),
    ],
)
def test_it_says_what_is_wrong_with_a_name(
    ada: User, browser_of: Browser, slug: str, reason: str
) -> None:
    Workspace.objects.create(slug="taken")
    answer = browser_of(ada).post("/onboarding/workspace", {"slug": slug})
    page = page_of(answer, status=422)
    assert page.texts(".//ul[@class='errorlist']/li")[0] == reason
    field = page.one(".//input[@name='slug']")
    assert (field.get("value", ""), field.get("aria-invalid")) == (slug, "true")
    assert Workspace.objects.filter(memberships__isnull=False).count() == 0


def test_it_goes_all_the_way(
    ada: User,
    browser_of: Browser,
    github: GitHubEmulator,
    work_off_the_queue: Callable[[], None],
) -> None:
    github.create_repository("acme/agents", files=FILES)
    client = browser_of(ada)
    client.post("/onboarding/workspace", {"slug": "team"})
    page = page_of(client.get("/onboarding"))
    assert page.text(".//main//ol//button") == "Connect GitHub"
    install, _dismiss = page.actions()
    back = at_github(github, "ada", client.post(install).headers["Location"], "acme")
    address = client.get(back).headers["Location"]
    assert address == "/onboarding?workspace=team"
    page = page_of(client.get(address))
    assert messages_of(page) == [
        "GitHub has saved which repositories the App may read. Choose one of them."
    ]
    [choice] = page.all(".//input[@type='radio']")
    connected = client.post(page.actions()[0], {"choice": choice.get("value")})
    assert connected.headers["Location"] == address
    page = page_of(client.get(address))
    assert steps(page)[1:3] == ["done: Done: Connected acme/agents", "open: First sync"]
    assert page.text(".//li[@class='open']//*[@role='status']") == "Asking GitHub for the branches"
    assert page.one(".//*[@id='steps']").get("hx-trigger") == "every 2s, tab-shown from:body"
    work_off_the_queue()
    page = page_of(client.get(address, headers=HTMX))
    assert steps(page) == [
        "done: Done: Workspace team",
        "done: Done: Connected acme/agents",
        "done: Done: Synced 1 branch, 2 rollouts on main",
        "open: Clone",
    ]
    assert page.one(".//*[@id='steps']").get("hx-trigger") is None
    assert page.links()["Open Rollouts"] == "/team/rollouts"


def test_it_tells_how_far_the_first_sync_is(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    for number, state in enumerate(["success", "success", "syncing"]):
        branch = agents.branches.create(name=f"b{number}")
        agents.sync_runs.create(
            branch=branch,
            state=state,
            trigger="connected",
            finished_at=agents.connected_at if state == "success" else None,
        )
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.text(".//li[@class='open']//*[@role='status']") == "Reading branches: 2 of 3"
    bar = page.one(".//progress")
    assert (bar.get("value"), bar.get("max")) == ("2", "3")


def test_it_says_what_keeps_the_first_sync(
    ada: User, browser_of: Browser, agents: Repository, github: GitHubEmulator
) -> None:
    """I21: no step waits for a list of branches; what keeps them is told, with a way to retry."""
    trouble = github.trouble("/acme/agents.git", status=403)
    engine.sync(agents.pk)
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert steps(page)[2] == "open: First sync"
    assert page.text(".//*[@class='notice danger']//strong") == (
        "Sync is blocked: GitHub refuses the App access to acme/agents."
    )
    assert page.actions() == ["/acme/integrations/git/sync-now", DISMISS]
    assert page.one(".//main//input[@name='next']").get("value") == AT_ACME
    trouble.end()
    answer = client.post("/acme/integrations/git/sync-now", {"next": AT_ACME})
    assert answer.headers["Location"] == AT_ACME
    engine.sync(agents.pk)
    assert steps(page_of(client.get(AT_ACME)))[3] == "open: Clone"


def test_it_does_not_wait_for_commits_that_do_not_exist(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/empty")
    github.install("acme", by="ada")
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    [choice] = page.all(".//input[@type='radio']")
    client.post(CONNECT, {"choice": choice.get("value")})
    engine.sync(Repository.objects.get().pk)
    assert steps(page_of(client.get(AT_ACME)))[2:] == [
        "done: Done: Synced: nothing has been pushed to main yet",
        "open: Clone",
    ]


def test_a_new_workspace_may_be_begun_beside_others(
    ada: User, browser_of: Browser, acme: Workspace
) -> None:
    client = browser_of(ada)
    assert steps(page_of(client.get("/onboarding")))[0] == "done: Done: Workspace acme"
    page = page_of(client.get("/onboarding?workspace="))
    assert steps(page)[0] == "open: Workspace"
    assert page.links()["acme"] == AT_ACME
    client.post("/onboarding/workspace", {"slug": "second"})
    assert page_of(client.get("/onboarding")).text(".//h1") == "Set up second"
    assert page_of(client.get(AT_ACME)).text(".//h1") == "Set up acme"
    assert page_of(client.get("/onboarding?workspace=foreign")).text(".//h1") == "Set up second"


def test_it_shows_three_ways_to_clone_and_why_the_cli_is_left_out(
    ada: User, browser_of: Browser, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    page = page_of(browser_of(ada).get(AT_ACME))
    host = urlsplit(github.url).netloc
    assert page.texts(".//code[@id]") == [
        f"git clone {github.url}/acme/agents.git",
        "git clone git@127.0.0.1:acme/agents.git",
        f"gh repo clone {host}/acme/agents",
    ]
    assert page.text(".//li[@class='open']//*[@class='notice']") == (
        "The steps for the osmosis command line are left out: it accepts remotes on github.com "
        f"only, and this repository is at {github.url}."
    )


def test_every_copy_button_names_the_text_it_copies(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    engine.sync(agents.pk)
    page = page_of(browser_of(ada).get(AT_ACME))
    ids: list[Any] = [button.get("data-copy") for button in page.all(".//button[@data-copy]")]
    assert ids == [code.get("id") for code in page.all(".//code[@id]")]
    assert [len(page.all(f".//*[@id='{id}-status']")) for id in ids] == [1] * len(ids)
