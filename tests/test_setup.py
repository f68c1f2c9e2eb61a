"""The first run: a token, GitHub's App, the first administrator. And then it is closed."""

import json
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from rollouts_app import github_app
from rollouts_app.models import AuditEvent, GitHubApp, User
from rollouts_app.sync.clients import app_client
from tests.barriers import has_no_barriers
from tests.conftest import receive
from tests.first_run import create_at_github, manifest_form, printed_token, without_app
from tests.github_emulator import GitHubEmulator
from tests.pages import page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_app(github: GitHubEmulator, settings: Settings) -> Iterator[None]:
    with without_app(github, settings):
        yield


@pytest.fixture
def held(capsys: pytest.CaptureFixture[str]) -> Client:
    """A browser that has shown the token."""
    client = Client()
    answer = client.get("/setup", {"token": printed_token(capsys)})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/setup")
    return client


@pytest.mark.parametrize("path", ["/", "/onboarding", "/acme/rollouts", "/accounts/login/"])
def test_every_page_leads_there(path: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/setup")


def test_machines_are_told(client: Client) -> None:
    answer = client.post("/webhooks/github", "{}", content_type="application/json")
    assert answer.status_code == 503
    assert answer.content.decode() == (
        "This server has no GitHub App yet. Whoever runs it sets it up: http://testserver/setup\n"
    )
    assert client.get("/healthz").status_code == 200
    answer = client.get("/api/cli/verify")
    assert (answer.status_code, answer.json()["code"]) == (503, "UNAVAILABLE")
    assert answer.json()["message"].startswith("This server has no GitHub App yet.")


def test_it_asks_for_the_token(capsys: pytest.CaptureFixture[str]) -> None:
    client, token = Client(), printed_token(capsys)
    assert page_of(client.get("/setup")).text(".//h1") == "Set up this server"
    wrong = page_of(client.post("/setup/begin", {"token": "x"}), 422)
    assert "This is not the token that counts now." in wrong.text(".//ul[@role='alert']")
    assert page_of(client.get("/setup?token=x"), 422)
    assert client.post("/setup/app", {"name": "x"}).headers["Location"] == "/setup"
    right = client.post("/setup/begin", {"token": f" {token}\n"}, follow=True)
    assert page_of(right).text(".//h1") == "Create the GitHub App"


def test_each_start_makes_another_token(held: Client, capsys: pytest.CaptureFixture[str]) -> None:
    printed_token(capsys)
    assert page_of(held.get("/setup")).text(".//h1") == "Set up this server"


def test_guessing_is_slowed_down(capsys: pytest.CaptureFixture[str]) -> None:
    token = printed_token(capsys)
    for _ in range(25):
        Client().post("/setup/begin", {"token": "x"})
    assert Client().post("/setup/begin", {"token": token}).status_code == 422


def test_the_manifest_asks_for_what_is_needed(held: Client, settings: Settings) -> None:
    form = manifest_form(held, has_webhook="on")
    manifest = json.loads(form["manifest"])
    home = settings.PUBLIC_URL
    assert form["action"].startswith(f"{settings.GITHUB_URL}/settings/apps/new?state=")
    assert manifest == {
        "name": "Osmosis",
        "url": home,
        "description": "Shows the agent rollouts of each branch.",
        "hook_attributes": {"url": f"{home}/webhooks/github", "active": True},
        "redirect_url": f"{home}/setup/created",
        "callback_urls": [f"{home}/accounts/github/login/callback/"],
        "setup_url": f"{home}/onboarding/installed",
        "setup_on_update": True,
        "public": False,
        "default_permissions": {"contents": "read", "metadata": "read"},
        "default_events": ["push", "create", "delete", "repository"],
    }


def test_an_organization_may_own_it(held: Client, settings: Settings) -> None:
    form = manifest_form(
        held, owner="organization", organization="acme", may_create="on", is_public="on"
    )
    assert form["action"].startswith(f"{settings.GITHUB_URL}/organizations/acme/settings/apps/new?")
    manifest = json.loads(form["manifest"])
    assert manifest["default_permissions"]["administration"] == "write"
    assert manifest["public"] is True
    assert (manifest["hook_attributes"]["active"], manifest["default_events"]) == (False, [])


@pytest.mark.parametrize("organization", ["", "../x", "a b", "-a"])
def test_it_says_what_is_no_organization(held: Client, organization: str) -> None:
    values = {"name": "Osmosis", "owner": "organization", "organization": organization}
    answer = page_of(held.post("/setup/app", values), 422)
    assert "Enter the organization's name" in answer.text(".//ul[@class='errorlist']")


def made(held: Client, github: GitHubEmulator, **values: str) -> GitHubApp:
    """The App, created by Ada."""
    back = create_at_github(github, "ada", manifest_form(held, **{"has_webhook": "on", **values}))
    assert held.get(back).headers["Location"] == "/setup"
    # Where a test client calls from.
    github.app.callback_urls.append("http://testserver/accounts/github/login/callback/")
    return GitHubApp.objects.get()


def test_github_makes_the_app(held: Client, github: GitHubEmulator) -> None:
    app = made(held, github)
    assert (app.app_id, app.slug, app.owner) == (github.app.id, "osmosis", "ada")
    stored = [app.private_key, app.client_secret, app.webhook_secret]
    assert not {github.app.private_key, github.app.client_secret} & set(stored)
    known = github_app.credentials()
    assert known.client_secret == github.app.client_secret
    assert known.webhook_secrets == (github.app.webhook_secret,)
    assert app_client().app().slug == "osmosis"
    [event] = AuditEvent.objects.all()
    assert (event.deed, event.subject) == (AuditEvent.Deed.SET_UP, "osmosis")


def test_whoever_signs_in_then_is_the_administrator(held: Client, github: GitHubEmulator) -> None:
    made(held, github)
    assert page_of(held.get("/setup")).text(".//h1") == "Sign in as the administrator"
    # Somebody else, without the token, is not invited.
    assert sign_in(Client(), github, "mallory") == "403"
    assert sign_in(held, github, "ada", "?next=/onboarding") == "/onboarding"
    assert User.objects.get().is_administrator
    assert held.get("/setup").status_code == 404
    assert held.get("/server").status_code == 200


@pytest.fixture(autouse=True)
def strict(settings: Settings) -> None:
    settings.SIGN_IN = "invited"


def test_a_replayed_return_stores_nothing(held: Client, github: GitHubEmulator) -> None:
    back = create_at_github(github, "ada", manifest_form(held))
    forged = back.replace("state=", "state=x")
    assert "was not begun in this browser" in page_of(held.get(forged, follow=True)).text(".//main")
    # A wrong state uses the right one up.
    held.get(back)
    assert not GitHubApp.objects.exists()


def test_another_browsers_return_stores_nothing(held: Client, github: GitHubEmulator) -> None:
    back = create_at_github(github, "ada", manifest_form(held))
    assert Client().get(back).headers["Location"] == "/setup"
    assert not GitHubApp.objects.exists()


def test_a_code_is_good_once(held: Client, github: GitHubEmulator) -> None:
    manifest_form(held)
    state = held.session["setup_state"][0]
    page = page_of(held.get("/setup/created", {"code": "none", "state": state}, follow=True))
    assert "The App could not be taken over." in page.text(".//main")
    assert page.text(".//h1") == "Create the GitHub App"


def test_without_a_webhook_nothing_is_taken_in(
    held: Client, github: GitHubEmulator, capsys: pytest.CaptureFixture[str]
) -> None:
    app = made(held, github, has_webhook="")
    assert (app.webhook_secret, github_app.credentials().has_webhook) == ("", False)
    github.create_repository("acme/agents", files={"a": "a"})
    github.install("acme")
    github.app.webhook_url, github.app.webhook_secret = "http://testserver/webhooks/github", ""
    github.push("acme/agents", "main", {"b": "b"})
    github.wait_for_deliveries()
    assert receive(github.deliveries[-1]) == 401


@pytest.mark.django_db(transaction=True)
def test_the_first_run_by_keyboard(
    page: BrowserPage,
    live_server: LiveServer,
    github: GitHubEmulator,
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = printed_token(capsys)
    page.goto(f"{live_server.url}/setup")
    has_no_barriers(page)
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Create the GitHub App")).to_be_visible()
    assert "token" not in page.url
    has_no_barriers(page)
    page.get_by_label("My own account").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Organization", exact=True)).to_be_focused()
    page.keyboard.type("acme")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Create the App on GitHub")
    expect(button).to_be_focused()
    has_no_barriers(page)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Continue as Ada").press("Enter")
    page.get_by_role("button", name="Create GitHub App for acme").press("Enter")
    expect(page.get_by_text("is ready.")).to_be_visible()
    has_no_barriers(page)
    page.get_by_role("button", name="Continue with GitHub").press("Enter")
    page.get_by_role("button", name="Continue as Ada").press("Enter")
    expect(page.get_by_text("You look after this server from now on.")).to_be_visible()
    page.goto(f"{live_server.url}/server")
    expect(page.get_by_role("heading", name="Server")).to_be_visible()
    has_no_barriers(page)
