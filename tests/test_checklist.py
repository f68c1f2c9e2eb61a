"""The first steps of one person: ticked off, opened again, told in the header, of their role."""

import pytest
from django.test import Client
from pytest_django import Settings

from rollouts_app.models import Repository, User, Workspace
from rollouts_app.onboarding import cli_address
from rollouts_app.sync import engine
from tests.conftest import Browser
from tests.onboarding import AT_ACME, steps
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db


def tick(client: Client, step: str, *, done: str = "yes") -> Page:
    answer = client.post("/acme/setup-steps", {"step": step, "done": done}, follow=True)
    assert answer.redirect_chain == [(AT_ACME, 302)]
    return page_of(answer)


def test_it_shows_the_command_line_for_github_com(
    ada: User, browser_of: Browser, agents: Repository, settings: Settings
) -> None:
    engine.sync(agents.pk)
    client = browser_of(ada)
    settings.GITHUB_URL = "https://github.com"
    settings.PUBLIC_URL = "https://rollouts.test"
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//code[@id]") == [
        "git clone https://github.com/acme/agents.git",
        "git clone git@github.com:acme/agents.git",
        "gh repo clone acme/agents",
    ]
    assert page.texts(".//li[@class='open']//*[@class='notice']") == []
    page = tick(client, "clone")
    assert page.texts(".//code[@id]") == [
        "pip install osmosis-ai",
        "export OSMOSIS_PLATFORM_URL=https://rollouts.test",
        "osmosis auth login",
    ]
    page = tick(client, "cli")
    assert page.texts(".//code[@id]") == ["osmosis doctor", "osmosis auth whoami"]
    page = tick(client, "verify")
    assert steps(page)[3:] == [
        "done: Done: Cloned Show Clone",
        "done: Done: Command line installed, signed in Show Command line",
        "done: Done: Verified Show Verify",
    ]
    assert page.text(".//*[@id='steps']/p") == "6 of 6 steps done"
    assert page.text(".//*[@class='stack ending']/h2") == "You are set up."


@pytest.mark.parametrize(
    "address", ["https://rollouts.test", "http://127.0.0.1:8000", "http://localhost:8000"]
)
def test_the_command_line_takes_an_address(address: str) -> None:
    assert cli_address(address) == f"export OSMOSIS_PLATFORM_URL={address}"


def test_the_command_line_is_told_to_take_an_address_without_encryption() -> None:
    assert cli_address("http://rollouts.test:8000").splitlines() == [
        "export OSMOSIS_PLATFORM_URL=http://rollouts.test:8000",
        "export OSMOSIS_ALLOW_INSECURE_PLATFORM_URL=1",
    ]


def test_a_step_can_be_opened_again_and_taken_back(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    engine.sync(agents.pk)
    client = browser_of(ada)
    page = tick(client, "clone")
    assert steps(page)[3] == "done: Done: Cloned Show Clone"
    again = page_of(client.get(f"{AT_ACME}&step=clone"))
    assert steps(again)[3] == "open: Clone"
    assert steps(page_of(client.get(f"{AT_ACME}&step=sync")))[2].startswith("done")
    assert steps(tick(client, "clone", done="no"))[3] == "open: Clone"
    # What is read from live state is nobody's to tick.
    tick(client, "repository")
    assert ada.memberships.get().setup_done == []


def header_of(client: Client) -> str:
    """What the header says of the first steps."""
    return " ".join(
        page_of(client.get("/acme/members")).texts(".//header//a[@class='button quiet']")
    )


def test_the_header_leads_there_until_it_is_done_or_dismissed(
    ada: User, browser_of: Browser, agents: Repository
) -> None:
    client = browser_of(ada)
    assert header_of(client) == "Setup 2/4"
    engine.sync(agents.pk)
    assert header_of(client) == "Setup 3/4"
    client.post("/acme/setup-steps", {"reminder": "off"})
    assert header_of(client) == ""
    page = page_of(client.get(AT_ACME))
    assert "Show “Setup” in the header again" in page.texts(".//button")
    client.post("/acme/setup-steps", {"reminder": "on"})
    assert header_of(client) == "Setup 3/4"
    tick(client, "clone")
    assert header_of(client) == ""


def test_members_see_the_steps_that_are_theirs(
    linus: User, browser_of: Browser, agents: Repository, settings: Settings
) -> None:
    engine.sync(agents.pk)
    client = browser_of(linus)
    assert header_of(client) == "Setup 0/1"
    settings.GITHUB_URL = "https://github.com"
    assert steps(page_of(client.get(AT_ACME))) == [
        "open: Clone",
        "later: Command line",
        "later: Verify",
    ]


def test_it_can_be_dismissed_before_anything_is_connected(
    ada: User, linus: User, browser_of: Browser, acme: Workspace
) -> None:
    for person, told in ((ada, "Setup 1/4"), (linus, "Setup 0/1")):
        client = browser_of(person)
        assert header_of(client) == told
        assert "Do not remind me in the header" in page_of(client.get(AT_ACME)).texts(".//button")
        client.post("/acme/setup-steps", {"reminder": "off"})
        assert header_of(client) == ""
