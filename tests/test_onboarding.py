"""Onboarding: from signing in to the clone, step by step, each read from live state."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.test import Client
from pytest_django import Settings

from rollouts_app import onboarding as flow
from rollouts_app.accounts import keep_user_token
from rollouts_app.models import Installation, Membership, Repository, User, Workspace
from rollouts_app.sync import engine
from rollouts_app.vault import forget
from tests.conftest import FILES
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of, text_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}
AT_ACME = "/onboarding?workspace=acme"
CONNECT = "/acme/integrations/git/repository"
INSTALL = "/acme/integrations/git/installation"
Browser = Callable[[User], Client]


@pytest.fixture
def browser_of(github: GitHubEmulator) -> Browser:
    """A browser in which somebody has just signed in."""

    def of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        keep_user_token(user.github_id or 0, github.user_token(user.github_login))
        return client

    return of


def steps(page: Page) -> list[str]:
    """State and title of each step."""
    return [
        f"{step.get('class')}: {text_of(step.find('h2'))}"  # type: ignore[arg-type]
        for step in page.all(".//ol[@class='steps onboarding']/li")
    ]


def open_step(page: Page) -> str:
    """What the open step says."""
    return page.text(".//li[@class='open']/div")


def at_github(github: GitHubEmulator, login: str, address: str, account: str) -> str:
    """Install the App on an account as somebody would, on GitHub's pages; where that leads."""
    target = github.account_named(account).id
    with requests.Session() as session:
        session.post(f"{github.url}/login", {"user": login}, timeout=10)
        page = Page(session.get(f"{address}&target_id={target}", timeout=10).text)
        [form] = page.all(".//input[@name='target_id']/..")
        fields = {field.get("name"): field.get("value") for field in form.findall("input")}
        answer = session.post(
            github.url + form.get("action", ""),
            {**fields, "selection": "all"},
            allow_redirects=False,
            timeout=10,
        )
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"


def messages_of(page: Page) -> list[str]:
    return page.texts(".//*[@class='messages stack tight']/div/p")


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
    assert page.text(".//main//button") == "Connect GitHub"
    [install] = page.actions()
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
    trouble = github.trouble("/acme/agents.git", status=403)
    engine.sync(agents.pk)
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert steps(page)[2] == "open: First sync"
    assert page.text(".//*[@class='notice danger']//strong") == (
        "Sync is blocked: GitHub refuses the App access to acme/agents."
    )
    assert page.actions() == ["/acme/integrations/git/sync-now"]
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


def test_it_lists_what_one_may_choose_by_account(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/agents")
    github.create_repository("acme/Bots", private=False)
    github.create_repository("acme/secret")
    github.create_repository("ada/own")
    github.install("acme", repositories=["acme/agents", "acme/Bots"], by="ada")
    number = github.install("ada", repositories="all", by="ada")
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.texts(".//legend") == ["Repositories of acme", "Repositories of ada"]
    assert page.texts(".//label") == ["Private acme/agents", "acme/Bots", "Private ada/own"]
    assert page.texts(".//main//button") == ["Connect repository", "Connect another account"]
    assert page.links()["Not listed? Change what the App may read in ada"] == (
        f"{github.url}/settings/installations/{number}"
    )


def test_an_account_that_refuses_gives_its_reason_and_hides_no_other(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/agents")
    github.create_repository("ada/own")
    number = github.install("acme", by="ada")
    github.install("ada", by="ada")
    github.trouble(
        f"/api/v3/user/installations/{number}/repositories",
        status=403,
        body={"message": "Your IP address is not permitted to access this resource."},
    )
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.texts(".//label") == ["Private ada/own"]
    assert page.texts(".//fieldset/p[@class='box-body muted']") == [
        f"GitHub answered 403 to GET /api/v3/user/installations/{number}/repositories: "
        "Your IP address is not permitted to access this resource."
    ]


def test_it_says_that_the_app_is_suspended_somewhere(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/agents")
    github.suspend(github.install("acme", by="ada"), by="ada")
    page = page_of(browser_of(ada).get(AT_ACME))
    assert "The App is suspended here. An owner of acme can unsuspend it on GitHub." in (
        page.texts(".//fieldset/p[@class='box-body muted']")
    )
    assert page.texts(".//main//button") == ["Connect another account"]


def test_it_offers_no_repository_that_has_a_workspace(
    ada: User, browser_of: Browser, agents: Repository, github: GitHubEmulator
) -> None:
    client = browser_of(ada)
    client.post("/onboarding/workspace", {"slug": "second"})
    page = page_of(client.get("/onboarding?workspace=second"))
    assert page.texts(".//label") == ["Private acme/agents has a workspace already"]
    [choice] = page.all(".//input[@type='radio']")
    assert choice.get("disabled") == ""
    answer = client.post(
        "/second/integrations/git/repository", {"choice": choice.get("value")}, follow=True
    )
    [message] = messages_of(page_of(answer))
    assert message.startswith("acme/agents cannot be connected here:")


def test_it_finds_a_repository_in_a_long_list(
    ada: User,
    browser_of: Browser,
    acme: Workspace,
    github: GitHubEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flow, "LISTED_REPOSITORIES", 2)
    for name in ("agents", "bots", "chess"):
        github.create_repository(f"acme/{name}", private=False)
    github.install("acme", by="ada")
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//label") == ["acme/agents", "acme/bots"]
    assert len(page.all(".//form[@role='search']")) == 1
    assert page_of(client.get(f"{AT_ACME}&q=CHESS")).texts(".//label") == ["acme/chess"]
    nothing = page_of(client.get(f"{AT_ACME}&q=<b>"))
    assert nothing.texts(".//fieldset/p[@class='box-body muted']") == [
        "No repository here is named like “<b>”."
    ]


@pytest.mark.parametrize("choice", ["", "1", "1:2:3", "x:y", "1:99999999999999999999"])
def test_it_takes_only_a_choice_from_the_list(
    ada: User, browser_of: Browser, acme: Workspace, choice: str
) -> None:
    answer = browser_of(ada).post(CONNECT, {"choice": choice}, follow=True)
    assert messages_of(page_of(answer)) == ["Choose one of the repositories listed."]


def test_it_believes_no_number_that_github_does_not_show_the_person(
    mallory: User, browser_of: Browser, installation: Installation, github: GitHubEmulator
) -> None:
    client = browser_of(mallory)
    client.post("/onboarding/workspace", {"slug": "mine"})
    number = github.repository_named("acme/agents").id
    answer = client.post(
        "/mine/integrations/git/repository",
        {"choice": f"{installation.github_id}:{number}"},
        follow=True,
    )
    [message] = messages_of(page_of(answer))
    assert message.startswith("GitHub does not show you this repository through the App.")
    assert Repository.objects.count() == 0


def test_a_second_press_of_connect_changes_nothing(
    ada: User, browser_of: Browser, acme: Workspace, installation: Installation
) -> None:
    client = browser_of(ada)
    [choice] = page_of(client.get(AT_ACME)).all(".//input[@type='radio']")
    for _ in range(2):
        page = page_of(client.post(CONNECT, {"choice": choice.get("value")}, follow=True))
        assert messages_of(page) == []
    assert Repository.objects.count() == 1


def test_it_asks_to_sign_in_again_when_the_token_is_gone(
    client: Client, github: GitHubEmulator, installation: Installation
) -> None:
    sign_in(client, github, "ada")
    ada = User.objects.get()
    client.post("/onboarding/workspace", {"slug": "acme"})
    forget(f"user-token-{ada.github_id}")
    page = page_of(client.get(AT_ACME))
    assert page.actions() == ["/accounts/github/login/"]
    assert page.one(".//li[@class='open']//input[@name='next']").get("value") == AT_ACME
    message = client.post(CONNECT, {"choice": "1:1"}, follow=True)
    assert messages_of(page_of(message)) == [
        "Sign in with GitHub again, then choose the repository."
    ]
    assert sign_in(client, github, "ada", f"?next={AT_ACME}") == AT_ACME
    assert page_of(client.get(AT_ACME)).texts(".//label") == ["Private acme/agents"]
    assert User.objects.count() == 1


def test_a_token_that_github_revoked_means_signing_in_again(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    client = browser_of(ada)
    github.expire_tokens()
    assert page_of(client.get(AT_ACME)).actions() == ["/accounts/github/login/"]


def test_it_says_when_github_does_not_answer(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.trouble("/api/v3/user/installations", status=503)
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.text(".//*[@class='notice attention']//strong") == (
        "GitHub did not list your repositories."
    )
    assert page.links()["Try again"] == AT_ACME


def test_members_are_told_whom_to_ask(
    linus: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    client = browser_of(linus)
    page = page_of(client.get("/onboarding"))
    assert open_step(page).startswith(
        "Owners and admins connect the repository. Ask one of them: Ada Lovelace."
    )
    assert page.actions() == []
    assert client.post(INSTALL).status_code == 403
    assert client.post(CONNECT, {"choice": "1:1"}).status_code == 403
    assert [path for _, path in github.requests if path.startswith("/api/")] == []


def test_somebody_may_only_ask_an_owner_to_approve(
    linus: User, browser_of: Browser, github: GitHubEmulator
) -> None:
    client = browser_of(linus)
    client.post("/onboarding/workspace", {"slug": "own"})
    there = client.post("/own/integrations/git/installation").headers["Location"]
    back = at_github(github, "linus", there, "acme")
    assert "setup_action=request" in back
    answer = client.get(back, follow=True)
    assert answer.redirect_chain == [("/onboarding?workspace=own", 302)]
    assert messages_of(page_of(answer)) == [
        "GitHub has asked the owners of the organization to approve the App. "
        "Come back to this page when one of them has: its repositories are then listed here."
    ]


@pytest.mark.parametrize(
    ("query", "news"),
    [
        ("installation_id=1&setup_action=install", "The App is installed. Choose the workspace "),
        ("installation_id=1&state=forged", "This way back from GitHub was used before, or is "),
    ],
)
def test_it_copes_with_coming_back_without_a_state_of_ours(
    ada: User, browser_of: Browser, acme: Workspace, query: str, news: str
) -> None:
    answer = browser_of(ada).get(f"/onboarding/installed?{query}", follow=True)
    assert answer.redirect_chain == [("/onboarding", 302)]
    [message] = messages_of(page_of(answer))
    assert message.startswith(news)
    assert Installation.objects.count() == 0


def test_whoever_comes_back_signed_out_signs_in_first(client: Client, db: None) -> None:
    answer = client.get("/onboarding/installed?installation_id=1")
    assert answer.headers["Location"] == (
        "/accounts/login/?next=/onboarding/installed%3Finstallation_id%3D1"
    )


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


def test_it_shows_the_command_line_for_github_com(
    ada: User, browser_of: Browser, agents: Repository, settings: Settings
) -> None:
    engine.sync(agents.pk)
    client = browser_of(ada)
    settings.GITHUB_URL = "https://github.com"
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//code[@id]") == [
        "git clone https://github.com/acme/agents.git",
        "git clone git@github.com:acme/agents.git",
        "gh repo clone acme/agents",
        "pip install osmosis-ai",
        "osmosis auth login",
        "osmosis doctor",
        "osmosis auth whoami",
    ]
    assert page.texts(".//li[@class='open']//*[@class='notice']") == []


def test_every_copy_button_names_the_text_it_copies(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    engine.sync(agents.pk)
    page = page_of(browser_of(ada).get(AT_ACME))
    ids: list[Any] = [button.get("data-copy") for button in page.all(".//button[@data-copy]")]
    assert ids == [code.get("id") for code in page.all(".//code[@id]")]
    assert [len(page.all(f".//*[@id='{id}-status']")) for id in ids] == [1] * len(ids)
