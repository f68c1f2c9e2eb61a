"""Installing the App: the ways to GitHub and back."""

import pytest
from django.test import Client

from rollouts_app.models import (
    AuditEvent,
    Installation,
    Repository,
    User,
    Workspace,
)
from tests.conftest import Browser
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, at_github, messages_of, steps
from tests.pages import page_of

pytestmark = pytest.mark.django_db

INSTALL = "/acme/integrations/git/installation"
INSTALLED = "/onboarding/installed"


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
    assert links["Choose its repository: acme"] == f"{AT_ACME}&account={number}"
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


def test_a_foreign_number_is_refused_with_a_good_state_too(
    mallory: User, browser_of: Browser, installation: Installation, github: GitHubEmulator
) -> None:
    """I06: the state is genuine, the number another's."""
    github.create_repository("mallory/den")
    client = browser_of(mallory)
    client.post("/onboarding/workspace", {"slug": "den"})
    there = client.post("/den/integrations/git/installation").headers["Location"]
    back = at_github(github, "mallory", there, "mallory")
    own = github.installation_on(github.account_named("mallory"))
    assert own is not None
    foreign = back.replace(f"={own.id}&", f"={installation.github_id}&")
    page = page_of(client.get(foreign, follow=True))
    assert messages_of(page)[0].startswith("GitHub does not show you this installation of the App")
    assert page.texts(".//label") == ["Private mallory/den"]
    event = AuditEvent.objects.get(deed=AuditEvent.Deed.WAS_REFUSED)
    assert (event.actor, event.subject) == (mallory, f"installation {installation.github_id}")


def test_two_clicks_on_connect_lead_back_once_each(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I08: two tabs, each with a state of its own; nothing is tied twice, or at all."""
    client = browser_of(ada)
    ways = [client.post(INSTALL).headers["Location"] for _ in range(2)]
    backs = [at_github(github, "ada", way, "acme") for way in ways]
    for back in [*backs, *backs]:
        assert client.get(back).headers["Location"] == AT_ACME
    news = [message.partition(".")[0] for message in messages_of(page_of(client.get(AT_ACME)))]
    saved = "GitHub has saved which repositories the App may read"
    used = "This way back from GitHub was used already"
    assert news == [saved, saved, used, used]
    assert not Repository.objects.exists()


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
