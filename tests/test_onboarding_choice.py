"""Onboarding's second step: install the App, come back, and choose the repository."""

import pytest
from django.core.cache import cache
from django.test import Client

from rollouts_app.models import Installation, Repository, User, Workspace
from tests.conftest import Browser
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, CONNECT, DISMISS, messages_of, steps
from tests.pages import page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db

INSTALL = "/acme/integrations/git/installation"


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
    assert page.texts(".//main//ol//button") == [
        "Find",
        "Connect repository",
        "Connect another account",
    ]
    assert page.links()["Not listed? Grant the App access in ada"] == (
        f"{github.url}/settings/installations/{number}"
    )


def test_the_list_is_as_github_has_it_now(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """R08: renamed after the App was installed, it is listed by its new name at once."""
    github.create_repository("acme/agents")
    github.install("acme", repositories=["acme/agents"], by="ada")
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//label") == ["Private acme/agents"]
    refresh = page.links()["Refresh the list"]
    github.rename_repository("acme/agents", "robots", by="ada")
    page = page_of(client.get(refresh))
    assert page.texts(".//label") == ["Private acme/robots"]
    [choice] = page.all(".//input[@type='radio']")
    client.post(CONNECT, {"choice": choice.get("value")})
    assert Repository.objects.get().full_name == "acme/robots"


def test_it_says_that_the_app_is_suspended_somewhere(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/agents")
    github.suspend(github.install("acme", by="ada"), by="ada")
    page = page_of(browser_of(ada).get(AT_ACME))
    assert "The App is suspended here. An owner of acme can unsuspend it on GitHub." in (
        page.texts(".//fieldset/p[@class='box-body muted']")
    )
    assert page.texts(".//main//ol//button") == ["Find", "Connect another account"]


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
    cache.delete(f"user-token-{ada.github_id}")
    page = page_of(client.get(AT_ACME))
    assert page.actions() == ["/accounts/github/login/", DISMISS]
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
    assert page_of(client.get(AT_ACME)).actions() == ["/accounts/github/login/", DISMISS]


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
    assert page.text(".//*[@class='notice']//p[1]") == (
        "Owners and admins connect the repository. Ask one of them: Ada Lovelace."
    )
    assert steps(page) == ["open: Clone"]
    assert page.actions() == [DISMISS]
    assert client.post(INSTALL).status_code == 403
    assert client.post(CONNECT, {"choice": "1:1"}).status_code == 403
    assert [path for _, path in github.requests if path.startswith("/api/")] == []
