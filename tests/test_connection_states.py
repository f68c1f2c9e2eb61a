"""Git Integration before a repository is connected, and in each state that blocks it."""

import pytest
from django.test import Client

from rollouts_app.models import Installation, Repository, User, Workspace
from rollouts_app.views.trouble import WORDS
from tests.conftest import Browser
from tests.connection import HOME, address, press
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.onboarding import AT_ACME, HTMX
from tests.pages import Page, page_of
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

INSTALL = f"{HOME}/installation"
Trouble = Repository.Trouble


@pytest.fixture
def client(ada: User, acme: Workspace, browser_of: Browser) -> Client:
    return browser_of(ada)


def state(page: Page) -> tuple[str, list[str], list[str]]:
    """What is said of the connection, the main button, and where forms lead."""
    return (
        page.text(".//main//h2"),
        page.texts(".//main//*[@class='button primary']"),
        page.actions(),
    )


def test_the_app_is_not_installed(client: Client, linus: User) -> None:
    page = page_of(client.get(HOME))
    assert state(page) == ("The GitHub App is not installed yet", ["Install the App"], [INSTALL])
    assert state(seen_by(linus)) == ("No repository is connected", [], [])


def test_it_is_installed_and_no_repository_is_chosen(
    client: Client, linus: User, installation: Installation
) -> None:
    page = page_of(client.get(HOME))
    assert state(page) == ("Choose a repository", ["Choose a repository"], [INSTALL])
    assert page.links()["Choose a repository"] == AT_ACME
    assert page.text(".//main//p").startswith("The GitHub App is installed on acme. Choose the one")
    assert state(seen_by(linus)) == ("No repository is connected", [], [])


def test_a_repository_is_connected(client: Client, linus: User, synced: Repository) -> None:
    for page in (page_of(client.get(HOME)), seen_by(linus)):
        assert page.text(".//h2[@id='connection-title']") == f"Connected to {NAME}"
    assert seen_by(linus).all(".//*[@id='manage-menu']") == []


def test_the_app_is_suspended_everywhere(
    client: Client, installation: Installation, github: GitHubEmulator
) -> None:
    github.suspend(installation.github_id, by="ada")
    page = page_of(client.get(HOME))
    assert state(page) == (
        "The GitHub App is suspended on acme",
        ["Install the App"],
        [INSTALL],
    )


@pytest.mark.parametrize(
    ("is_down", "words"),
    [(False, "GitHub is asked in your own name"), (True, "GitHub answered 503")],
)
def test_where_github_does_not_tell_both_ways_are_open(
    ada: User, acme: Workspace, client: Client, github: GitHubEmulator, is_down: object, words: str
) -> None:
    if is_down:
        github.outage()
    else:
        github.expire_tokens()
    page = page_of(client.get(HOME))
    assert state(page) == ("No repository is connected", ["Choose a repository"], [INSTALL])
    assert page.text(".//main//p")[: len(words)] == words


# What of each state owners are led to; nothing where nobody here can do anything.
WAYS_OUT = {
    "uninstalled": "Install the App again",
    "suspended": "Open the installation on GitHub",
    Trouble.GONE: "Open the installation on GitHub",
    Trouble.DELETED: "Change the repository…",
    Trouble.REMOVED: "Open the installation on GitHub",
    Trouble.MOVED: "Install the App there",
    Trouble.PERMISSION: "Review the permissions on GitHub",
    Trouble.POLICY: "Open the installation on GitHub",
    Trouble.DENIED: "Open the installation on GitHub",
    Trouble.APP: "",
    Trouble.RATE_LIMITED: "",
    Trouble.UNAVAILABLE: "",
    Trouble.DISK_FULL: "",
    Trouble.GIT: "",
}
ASK = "Ask an owner or admin of this workspace to do that."


def test_each_state_has_words_and_a_way_out() -> None:
    assert {*WAYS_OUT} == {*WORDS} == {*Trouble.values, "uninstalled", "suspended"} - {""}


@pytest.mark.parametrize("kind", WAYS_OUT)
def test_it_names_the_state_and_the_way_out_to_those_who_may(
    kind: str, ada: User, linus: User, synced: Repository
) -> None:
    """U07"""
    if kind in Trouble.values:
        Repository.objects.update(trouble=kind, trouble_reason="So it said.")
    else:
        name = {"uninstalled": "removed_at", "suspended": "suspended_at"}[kind]
        Installation.objects.update(**{name: synced.connected_at})
    words, way = WORDS[kind], WAYS_OUT[kind]
    notices = [each.one(".//main//*[@data-trouble]") for each in (seen_by(ada), seen_by(linus))]
    names = {"account": "acme", "owner": "acme", "repository": NAME}
    for notice in notices:
        assert notice.findtext(".//strong") == words.title.format(**names)
    owners, members = ("".join(" ".join(notice.itertext()).split("\n")) for notice in notices)
    assert words.advice.format(**names) in owners
    assert (way in owners, way in members) == (True, way == "")
    assert [ASK in owners, ASK in members] == [False, way != ""]


def test_deactivating_asks_first_and_names_what_rests(client: Client, synced: Repository) -> None:
    path = address(synced, "deactivate")
    page = page_of(client.get(path))
    assert page.text(".//h1") == f"Deactivate {NAME}?"
    assert page.texts(".//main//form/p") == [
        "Its pushes are no longer synced, and all its rollouts are inactive: members see none of "
        "them here. Nothing is deleted, and on GitHub nothing changes.",
        "Kept until it is reactivated: 2 rollouts on 1 branch, 1 sync.",
    ]
    dialog = page_of(client.get(path, headers=HTMX | {"HX-Target": "dialog"}))
    assert dialog.text(".//dialog//h2") == f"Deactivate {NAME}?"
    assert Repository.objects.connected().get() == synced


def test_what_was_deactivated_can_be_reactivated(client: Client, synced: Repository) -> None:
    path = address(synced, "deactivate")
    assert press(client, path) == [
        f"{NAME} was deactivated. "
        "Its rollouts and history are kept, inactive, until it is reactivated."
    ]
    page = page_of(client.get(HOME))
    assert page.texts(".//main//button") == [f"Reactivate {NAME}"]
    assert press(client, path) == [
        "That repository is not connected any more. Nothing was changed."
    ]
    assert press(client, address(synced, "reconnect")) == [
        f"{NAME} is active again, with its rollouts and history. All branches are being checked."
    ]
    assert Repository.objects.connected().get() == synced
