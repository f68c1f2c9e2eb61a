"""Installing the App: the ways to GitHub and back, and waiting for an owner's approval."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client

from rollouts_app.models import (
    AuditEvent,
    Installation,
    InstallationRequest,
    Repository,
    User,
    Workspace,
)
from tests.conftest import Browser, receive
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, at_github, messages_of, open_step, steps
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db

INSTALL = "/acme/integrations/git/installation"
INSTALLED = "/onboarding/installed"
OWN = "/onboarding?workspace=own"


@pytest.fixture
def linus_at_own(linus: User, browser_of: Browser) -> Client:
    """Linus, who owns a workspace, and no account with repositories."""
    client = browser_of(linus)
    client.post("/onboarding/workspace", {"slug": "own"})
    return client


def ask_owners(client: Client, github: GitHubEmulator) -> Page:
    """Linus asks Acme's owners to approve, anew if need be; what the page says then."""
    for number in list(github.state.requests):
        github.drop_request(number)
    there = client.post("/own/integrations/git/installation").headers["Location"]
    back = at_github(github, "linus", there, "acme")
    answer = client.get(back, follow=True)
    assert answer.redirect_chain == [(OWN, 302)]
    return page_of(answer)


def test_an_approval_is_waited_for(
    linus_at_own: Client, linus: User, github: GitHubEmulator
) -> None:
    """I01: what was asked for is kept, with what to send the owners, and the way on."""
    page = ask_owners(linus_at_own, github)
    request = InstallationRequest.objects.get()
    assert (request.workspace.slug, request.user, request.settled_at) == ("own", linus, None)
    said = open_step(page)
    assert said.startswith(
        "Waiting for an owner to approve the App. Linus T asked the owners on GitHub just now."
    )
    text = page.text(".//code[@id='request-text']")
    assert f"{github.url}/github-apps/osmosis-web/installations/new" in text
    assert page.one(".//*[@id='steps']").get("hx-trigger", "").startswith("every 15s")
    assert linus_at_own.get("/own/rollouts").status_code == 200


def test_the_main_button_looks_whether_it_was_approved(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    """I03: with a request under way nobody is sent to install again."""
    ask_owners(linus_at_own, github)
    page = ask_owners(linus_at_own, github)
    assert InstallationRequest.objects.count() == 1
    [primary] = page.texts(".//main//*[@class='button primary']")
    assert primary == "Check now"
    assert page.links()["Check now"] == OWN
    git = page_of(linus_at_own.get("/own/integrations/git"))
    assert git.text(".//*[@class='blankslate']/h2") == "Waiting for an owner to approve the App"
    assert git.links()["See the request"] == OWN
    assert git.actions() == []


def test_the_approval_is_noticed_by_itself(
    linus_at_own: Client, linus: User, github: GitHubEmulator
) -> None:
    ask_owners(linus_at_own, github)
    github.create_repository("acme/agents")
    github.install("acme", by="ada")
    github.wait_for_deliveries()
    assert receive(github.deliveries[-1]) == 202
    request = InstallationRequest.objects.get()
    assert (request.account_login, request.settled_at is not None) == ("acme", True)
    page = page_of(linus_at_own.get(OWN))
    assert page.texts(".//label") == ["Private acme/agents"]
    assert page.one(".//*[@id='steps']").get("hx-trigger") is None


def test_the_approval_is_noticed_where_no_webhook_came(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    ask_owners(linus_at_own, github)
    InstallationRequest.objects.update(requested_at=F("requested_at") - timedelta(minutes=1))
    github.deliver = None
    github.create_repository("acme/agents")
    github.install("acme", by="ada")
    page = page_of(linus_at_own.get(OWN))
    assert page.texts(".//label") == ["Private acme/agents"]
    assert InstallationRequest.objects.get().account_login == "acme"


def test_what_was_installed_before_is_no_approval(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    github.install("linus", by="linus")
    InstallationRequest.objects.all().delete()
    page = ask_owners(linus_at_own, github)
    InstallationRequest.objects.update(requested_at=F("requested_at") + timedelta(minutes=1))
    page = page_of(linus_at_own.get(OWN))
    assert InstallationRequest.objects.get().settled_at is None
    assert "Waiting for an owner" in page.text(".//main")


def test_nobody_has_to_go_on_waiting(linus_at_own: Client, github: GitHubEmulator) -> None:
    ask_owners(linus_at_own, github)
    page = page_of(linus_at_own.post("/own/integrations/git/request/drop", follow=True))
    assert page.text(".//main//button") == "Connect GitHub"
    ask_owners(linus_at_own, github)
    assert InstallationRequest.objects.open().count() == 1


def test_an_owner_who_approved_needs_no_account_here(client: Client) -> None:
    """I04: no session, no state, a number: a friendly page, and nothing is bound."""
    address = f"{INSTALLED}?installation_id=1&setup_action=install"
    assert page_of(client.get(address)).text(".//h1") == "That is all that was needed from you"
    assert not Installation.objects.exists()


def test_whoever_comes_back_signed_out_signs_in_first(client: Client) -> None:
    answer = client.get(f"{INSTALLED}?installation_id=1&state=x")
    assert answer.headers["Location"] == (
        "/accounts/login/?next=/onboarding/installed%3Finstallation_id%3D1%26state%3Dx"
    )


def test_it_asks_which_workspace_is_meant(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I05: somebody who installed from GitHub's side is asked, not refused."""
    number = github.install("acme", by="ada")
    client = browser_of(ada)
    page = page_of(client.get(f"{INSTALLED}?installation_id={number}&setup_action=install"))
    assert page.text(".//h1") == "The App is installed on acme"
    links = page.links()
    assert links["Choose its repository: acme"] == AT_ACME
    assert links["Create it"] == "/onboarding?workspace="


def test_more_repositories_lead_to_what_is_connected(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    number = agents.installation.github_id
    page = page_of(browser_of(ada).get(f"{INSTALLED}?installation_id={number}&setup_action=update"))
    assert page.text(".//h1") == "GitHub has saved your choice"
    assert page.links()["Git Integration of acme"] == "/acme/integrations/git"


def test_a_foreign_number_is_refused_and_noted(
    mallory: User, browser_of: Browser, installation: Installation
) -> None:
    """I06"""
    before = Installation.objects.count()
    number = installation.github_id
    answer = browser_of(mallory).get(f"{INSTALLED}?installation_id={number}", follow=True)
    assert answer.redirect_chain == [("/onboarding", 302)]
    [message] = messages_of(page_of(answer))
    assert message.startswith("GitHub does not show you this installation of the App")
    event = AuditEvent.objects.get(deed=AuditEvent.Deed.WAS_REFUSED)
    assert (event.actor, event.subject) == (mallory, f"installation {number}")
    assert Installation.objects.count() == before


@pytest.mark.parametrize("number", ["", "x", "1e9", "9" * 40, "-1", "²"])
def test_what_is_no_number_leads_to_the_first_steps(
    ada: User, browser_of: Browser, number: str
) -> None:
    answer = browser_of(ada).get(INSTALLED, {"installation_id": number})
    assert answer.headers["Location"] == "/onboarding"


def test_a_forged_state_is_named(ada: User, browser_of: Browser, acme: Workspace) -> None:
    answer = browser_of(ada).get(f"{INSTALLED}?installation_id=1&state=forged", follow=True)
    assert answer.redirect_chain == [("/onboarding", 302)]
    [message] = messages_of(page_of(answer))
    assert message.startswith("This way back from GitHub was not begun by you")


def test_a_used_way_back_can_be_begun_again(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I08"""
    client = browser_of(ada)
    there = client.post(INSTALL).headers["Location"]
    back = at_github(github, "ada", there, "acme")
    client.get(back)
    answer = client.get(back, follow=True)
    message = messages_of(page_of(answer))[-1]
    assert message.startswith("This way back from GitHub was used already.")
    assert page_of(answer).actions()


def test_an_installation_that_is_there_already_is_offered(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I09: we never heard of it, and it is no less to choose from."""
    github.deliver = None
    github.create_repository("acme/agents")
    github.install("acme", by="ada")
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.texts(".//label") == ["Private acme/agents"]
    assert steps(page)[1] == "open: GitHub and repository"


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https:evil.example", "https://evil.example/", "%2F%2Fevil.example"],
)
def test_no_way_leads_to_another_host(
    ada: User, browser_of: Browser, acme: Workspace, target: str
) -> None:
    client = browser_of(ada)
    answer = client.post("/acme/setup-steps", {"next": target, "step": "clone"})
    assert answer.headers["Location"] == AT_ACME
    answer = Client().get(INSTALLED, {"state": "x", "next": target})
    assert answer.headers["Location"].startswith("/accounts/login/?next=/onboarding/installed")
