"""The device page: which device asks, approve or deny."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app import device_login
from rollouts_app.device_login import MOST_GUESSES
from rollouts_app.models import CliToken, DeviceGrant, User
from tests.cli_api import Cli
from tests.conftest import Browser
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def grant(db: None) -> DeviceGrant:
    Cli(git=None).post("device/authorize", {"deviceName": "ada's <laptop>"})
    return DeviceGrant.objects.get()


def heading(client: Client, code: str, status: int = 200) -> str:
    return opened(client, code, status).text(".//h1")


def opened(client: Client, code: str, status: int = 200) -> Page:
    return page_of(client.get("/device", {"code": code}), status)


def answer(client: Client, grant: DeviceGrant, word: str) -> str:
    """What the page says after Approve or Deny."""
    sent = client.post("/device", {"code": grant.shown_code, "answer": word})
    assert (sent.status_code, sent.headers["Location"]) == (302, f"/device?code={grant.shown_code}")
    return heading(client, grant.shown_code)


def test_it_asks_for_the_code(ada: User, browser_of: Browser) -> None:
    page = page_of(browser_of(ada).get("/device"))
    assert page.one(".//form[@action='/device']/..//input[@name='code']").get("required") == ""
    assert page.text(".//h1") == "Sign in a device"


def test_it_shows_who_asks_from_where_since_when(
    ada: User, browser_of: Browser, grant: DeviceGrant
) -> None:
    page = opened(browser_of(ada), grant.shown_code)
    assert page.text(".//h1") == "Let ada's <laptop> sign in as you?"
    assert page.text(".//*[@class='user-code mono']") == grant.shown_code
    facts = page.facts()
    assert facts.pop("Since").endswith("now")
    assert facts == {
        "Device": "ada's <laptop>",
        "Program": "osmosis-cli/0.3.8",
        "Address": "127.0.0.1",
        "May": "read the rollouts of your workspaces, as Ada Lovelace, for 90 days",
    }


def test_it_takes_the_code_however_it_is_typed(
    ada: User, browser_of: Browser, grant: DeviceGrant
) -> None:
    client, code = browser_of(ada), grant.user_code
    for typed in (code, code.lower(), f" {code[:4]}-{code[4:]} ", f"{code[:4]} {code[4:].lower()}"):
        assert heading(client, typed).startswith("Let ada's")


def test_approved_denied_used_and_expired_say_so(
    ada: User, browser_of: Browser, grant: DeviceGrant
) -> None:
    client = browser_of(ada)
    assert answer(client, grant, "approve") == "Approved"
    # Twice is once, and too late for the contrary.
    assert answer(client, grant, "approve") == "Approved"
    assert answer(client, grant, "deny") == "Approved"
    DeviceGrant.objects.update(state=DeviceGrant.State.USED)
    assert heading(client, grant.shown_code) == "ada's <laptop> is signed in"
    DeviceGrant.objects.update(state=DeviceGrant.State.WAITING, user=None)
    assert answer(client, grant, "nonsense") == "Let ada's <laptop> sign in as you?"
    assert answer(client, grant, "deny") == "Denied"
    DeviceGrant.objects.update(state=DeviceGrant.State.WAITING, user=None, expires_at=now())
    assert answer(client, grant, "approve") == "This code has expired"
    assert not CliToken.objects.exists()


def test_an_unknown_code_says_so(ada: User, browser_of: Browser) -> None:
    for code in ("BBBB-BBBB", "\0", "<b>", "x" * 5000):
        page = opened(browser_of(ada), code, 404)
        assert page.text(".//*[@id='code-error']").startswith("No device asks with this code.")


def test_what_somebody_else_decided_is_unknown(
    ada: User, linus: User, browser_of: Browser, grant: DeviceGrant
) -> None:
    answer(browser_of(ada), grant, "approve")
    assert heading(browser_of(linus), grant.shown_code, 404) == "Sign in a device"


def test_guessing_is_slowed_down(
    ada: User, linus: User, browser_of: Browser, grant: DeviceGrant
) -> None:
    client = browser_of(ada)
    for _ in range(MOST_GUESSES):
        heading(client, "BBBB-BBBB", 404)
    assert heading(client, grant.shown_code, 429) == "Too many codes"
    sent = client.post("/device", {"code": grant.shown_code, "answer": "approve"})
    assert sent.status_code == 429
    grant.refresh_from_db()
    assert grant.state == DeviceGrant.State.WAITING
    # Others are not slowed down by that.
    assert heading(browser_of(linus), grant.shown_code).startswith("Let ada's")


def test_signing_in_first_comes_back_with_the_code(
    github: GitHubEmulator, grant: DeviceGrant
) -> None:
    client = Client()
    address = f"/device?code={grant.shown_code}"
    asked = client.get(address)
    assert (asked.status_code, asked.headers["Location"]) == (
        *(302, f"/accounts/login/?next=/device%3Fcode%3D{grant.shown_code}"),
    )
    assert sign_in(client, github, "ada", f"?next=/device%3Fcode%3D{grant.shown_code}") == address
    assert heading(client, grant.shown_code).startswith("Let ada's")


def test_whoever_let_a_device_in_may_be_gone(ada: User, grant: DeviceGrant) -> None:
    device_login.decide(ada, grant, is_approved=True)
    ada.delete()
    assert not DeviceGrant.objects.filter(expires_at__gt=now() - timedelta(days=1)).exists()
