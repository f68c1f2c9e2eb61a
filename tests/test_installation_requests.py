"""Waiting for an owner's approval of the App: how it begins, and every way it ends."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db.models import F
from django.test import Client

from rollouts_app.models import InstallationRequest, User, Workspace
from tests.conftest import Browser, receive
from tests.github_emulator import GitHubEmulator
from tests.onboarding import at_github, open_step
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db

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
        "Waiting for an owner of acme to approve the App. "
        "Linus T asked the owners of acme on GitHub just now."
    )
    text = page.text(".//code[@id='request-text']")
    assert text.endswith(f" here: {github.url}/organizations/acme/settings/installations")
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


def look(client: Client) -> Page:
    """The page, some seconds later."""
    cache.delete(f"look-at-requests-{Workspace.objects.get(slug='own').pk}")
    return page_of(client.get(OWN))


def test_an_approval_of_another_account_is_none(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    """Linus installs the App for himself, and Mallory for her own: Acme has approved nothing."""
    ask_owners(linus_at_own, github)
    InstallationRequest.objects.update(requested_at=F("requested_at") - timedelta(minutes=1))
    for login in ("linus", "mallory"):
        github.install(login, by=login)
    github.wait_for_deliveries()
    assert [receive(made) for made in github.deliveries] == [202, 202]
    assert "Waiting for an owner of acme" in look(linus_at_own).text(".//main")
    assert InstallationRequest.objects.get().settled_at is None


@pytest.mark.parametrize("is_heard", [True, False])
def test_an_owner_approves_what_was_asked(
    linus_at_own: Client, github: GitHubEmulator, *, is_heard: bool
) -> None:
    """I04: the requester's side completes, by the webhook or without it."""
    ask_owners(linus_at_own, github)
    [number] = github.state.requests
    github.create_repository("acme/agents")
    github.approve_request(number, by="ada")
    github.wait_for_deliveries()
    if is_heard:
        receive(github.deliveries[-1])
        assert InstallationRequest.objects.get().settled_at is not None
    page = look(linus_at_own)
    assert page.texts(".//label") == ["Private acme/agents"]
    assert InstallationRequest.objects.get().settled_at is not None


def test_a_request_that_was_refused_is_begun_anew(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    ask_owners(linus_at_own, github)
    [number] = github.state.requests
    github.drop_request(number)
    page = look(linus_at_own)
    assert page.text(".//*[@class='notice attention']//strong") == (
        "GitHub lists this request no more, and the App is not installed on acme."
    )
    assert page.texts(".//main//*[@class='button primary']") == ["Ask again"]
    page = ask_owners(linus_at_own, github)
    assert page.texts(".//main//*[@class='button primary']") == ["Check now"]
    assert InstallationRequest.objects.get().missing_at is None


def test_an_account_that_github_did_not_name_is_learnt_later(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    down = github.trouble("/api/v3/app/installation-requests", status=503)
    page = ask_owners(linus_at_own, github)
    assert "Waiting for an owner to approve the App." in page.text(".//main")
    assert page.text(".//code[@id='request-text']").endswith("osmosis-web/installations/new")
    down.end()
    assert "Waiting for an owner of acme to approve the App." in look(linus_at_own).text(".//main")


def test_it_does_not_ask_for_requests_at_every_look(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    ask_owners(linus_at_own, github)
    before = len(github.requests)
    linus_at_own.get(OWN)
    assert [path.split("?")[0] for _, path in github.requests[before:]] == [
        "/api/v3/user/installations"
    ]


def test_nobody_has_to_go_on_waiting(linus_at_own: Client, github: GitHubEmulator) -> None:
    ask_owners(linus_at_own, github)
    page = page_of(linus_at_own.post("/own/integrations/git/request/drop", follow=True))
    assert page.text(".//main//ol//button") == "Connect GitHub"
    ask_owners(linus_at_own, github)
    assert InstallationRequest.objects.open().count() == 1


def test_what_was_asked_from_githubs_side_is_waited_for_where_one_says(
    linus_at_own: Client, github: GitHubEmulator
) -> None:
    """I01: without a state it is not known for which workspace, so that is asked."""
    github.request_installation("acme", by="linus")
    page = page_of(linus_at_own.get("/onboarding/installed?setup_action=request"))
    assert page.text(".//h1") == "The owners have been asked"
    assert InstallationRequest.objects.count() == 0
    [address] = page.actions()
    for _ in range(2):
        page = page_of(linus_at_own.post(address, follow=True))
    assert "Waiting for an owner of acme to approve the App." in page.text(".//main")
    assert InstallationRequest.objects.count() == 1
