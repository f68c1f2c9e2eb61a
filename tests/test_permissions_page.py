"""The permissions of the App on an account: granted against needed, with what each is for."""

import pytest
from django.test import Client

from rollouts_app.models import Repository, User
from tests.connection import HOME
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.pages import Page, text_of

pytestmark = pytest.mark.django_db

ADDRESS = f"{HOME}/permissions"
CREATING = (
    "Administration",
    "Not granted",
    "Only to create a repository from a template, in the first steps. Git Sync does without it.",
)
CONTENTS = "To read the rollouts of each branch, and the commits they come from."


def lines(page: Page) -> list[tuple[str, ...]]:
    return [tuple(text_of(cell) for cell in row) for row in page.all(".//tbody/tr")]


def test_it_says_what_is_granted_and_what_for(ada: User, agents: Repository) -> None:
    page = seen_by(ada, ADDRESS)
    assert [line[:2] for line in lines(page)] == [
        ("Contents", "Granted: read"),
        ("Metadata", "Granted: read"),
        ("Administration", "Not granted"),
    ]
    assert (lines(page)[0][2], lines(page)[2]) == (CONTENTS, CREATING)
    assert seen_by(ada).links()["Details of the permissions"] == ADDRESS


def test_it_leads_to_where_a_missing_one_is_accepted(
    ada: User, linus: User, agents: Repository, github: GitHubEmulator
) -> None:
    """What GitHub says now counts, not what it said when we last heard."""
    github.installation(agents.installation.github_id).permissions.pop("contents")
    page = seen_by(ada, ADDRESS)
    [line] = [line for line in lines(page) if line[0] == "Contents"]
    advice = "The App asks for it. An owner of acme can accept it on GitHub."
    assert line == ("Contents", "Missing", f"{CONTENTS} {advice} Accept it on GitHub")
    assert page.links()["Accept it on GitHub"] == agents.installation.permissions_page
    members = seen_by(linus, ADDRESS)
    assert lines(members)[0] == ("Contents", "Missing", f"{CONTENTS} {advice}")
    assert members.all(".//main//tbody//a") == []


def test_it_leads_to_the_app_when_that_does_not_ask(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.installation(agents.installation.github_id).permissions.pop("contents")
    github.edit_app_permissions({"metadata": "read"})
    page = seen_by(ada, ADDRESS)
    assert lines(page)[0][2].startswith(f"{CONTENTS} The App does not ask for it.")
    assert page.links()["Open the App on GitHub"].startswith(f"{github.url}/github-apps/")


def test_it_names_what_is_not_used(ada: User, agents: Repository, github: GitHubEmulator) -> None:
    more = {"issues": "write", "administration": "write"}
    github.installation(agents.installation.github_id).permissions.update(more)
    assert [line[:2] for line in lines(seen_by(ada, ADDRESS))][2:] == [
        ("Administration", "Granted: write"),
        ("Issues", "Not used: write"),
    ]


def test_it_shows_what_it_knew_when_github_is_down(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.outage()
    page = seen_by(ada, ADDRESS)
    assert page.text(".//main//strong") == (
        "GitHub could not be asked now. This is what it told before."
    )
    assert lines(page)[0][:2] == ("Contents", "Granted: read")


def test_it_needs_a_repository(ada: User, acme: object) -> None:
    client = Client()
    client.force_login(ada)
    assert client.get(ADDRESS).status_code == 404
