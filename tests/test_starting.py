"""Starting from a template: a private repository of one's own, connected at once."""

import time

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from rollouts_app.models import AuditEvent, Repository, User, Workspace
from rollouts_app.sync import engine
from tests.conftest import FILES, Browser
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, messages_of
from tests.pages import Page, page_of
from tests.syncing import heads_shown

pytestmark = pytest.mark.django_db

CREATE = "/acme/integrations/git/new-repository"
TEMPLATE = "starters/template"


@pytest.fixture(autouse=True)
def template(github: GitHubEmulator, settings: Settings) -> None:
    """A public template, and an App that may create repositories on Acme."""
    github.add_organization("starters", owners=["mallory"])
    github.create_repository(TEMPLATE, private=False, files=FILES)
    settings.TEMPLATE_REPOSITORY = TEMPLATE
    github.edit_app_permissions({"administration": "write", "contents": "read", "metadata": "read"})


@pytest.fixture
def number(github: GitHubEmulator, template: None) -> int:
    return github.install("acme", by="ada")


def create(client: Client, number: int, name: str = "rollouts") -> Page:
    answer = client.post(CREATE, {"installation": number, "name": name}, follow=True)
    assert answer.redirect_chain == [(AT_ACME, 302)]
    return page_of(answer)


def test_it_creates_and_connects_a_private_repository(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, number: int
) -> None:
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//select[@name='installation']/option") == ["acme"]
    assert messages_of(create(client, number)) == []
    repository = Repository.objects.get()
    assert (repository.full_name, repository.is_private) == ("acme/rollouts", True)
    assert AuditEvent.objects.filter(deed=AuditEvent.Deed.CONNECTED).count() == 1
    engine.sync(repository.pk)
    deadline = time.monotonic() + 10
    while not github.heads("acme/rollouts") and time.monotonic() < deadline:
        time.sleep(0.05)
    repository.request_full_check()
    engine.sync(repository.pk)
    assert heads_shown(repository) == github.heads("acme/rollouts")
    assert repository.rollouts.count() == 2


def test_a_second_press_creates_nothing(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, number: int
) -> None:
    client = browser_of(ada)
    create(client, number)
    assert messages_of(create(client, number, "another")) == [
        "This workspace has its repository already."
    ]
    assert github.state.repository("acme/another") is None


def test_a_press_beside_another_does_nothing(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, number: int
) -> None:
    cache.set(f"creating-{acme.pk}", "rollouts")
    assert messages_of(create(browser_of(ada), number)) == []
    assert github.state.repository("acme/rollouts") is None


@pytest.mark.parametrize("name", ["", "..", "a b", "x.git", "é", "a/b", "x" * 101])
def test_it_says_what_is_no_name(
    ada: User, browser_of: Browser, acme: Workspace, number: int, name: str
) -> None:
    [message] = messages_of(create(browser_of(ada), number, name))
    assert message in {
        "This field is required.",
        "Use letters, digits, dots, dashes and underscores, up to 100 of them.",
        "GitHub has no repositories of this name. Choose another.",
        "Ensure this value has at most 100 characters (it has 101).",
    }


def test_it_says_that_a_name_is_taken(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, number: int
) -> None:
    github.create_repository("acme/rollouts")
    [message] = messages_of(create(browser_of(ada), number))
    assert message == (
        "acme/rollouts exists on GitHub already. Choose another name, or connect it: it is in the "
        "list once the App may read it."
    )


def test_it_says_who_may_let_somebody_create_repositories(
    linus: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, number: int
) -> None:
    acme.memberships.filter(user=linus).update(role="admin")
    [message] = messages_of(create(browser_of(linus), number))
    assert message.startswith(
        "GitHub did not create acme/rollouts. You may not be allowed to create repositories there: "
        "ask an owner of acme. GitHub answered 403"
    )
    assert github.state.repository("acme/rollouts") is None


def test_it_says_that_the_template_is_away(
    ada: User, browser_of: Browser, acme: Workspace, settings: Settings, number: int
) -> None:
    settings.TEMPLATE_REPOSITORY = "starters/gone"
    [message] = messages_of(create(browser_of(ada), number))
    assert message.startswith("GitHub does not show the template starters/gone to you.")


def test_a_repository_that_is_not_listed_can_be_chosen_later(
    ada: User,
    browser_of: Browser,
    acme: Workspace,
    github: GitHubEmulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rollouts_app.starting.PATIENCE", 0.2)
    github.create_repository("acme/agents")
    number = github.install("acme", repositories=["acme/agents"], by="ada")
    [message] = messages_of(create(browser_of(ada), number))
    assert message.startswith("acme/rollouts was created, but the App may not read it yet.")
    assert not Repository.objects.exists()


def test_by_hand_where_the_app_may_not(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.edit_app_permissions({"contents": "read", "metadata": "read"})
    number = github.install("acme", by="ada")
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert page.text(".//code[@id='create-by-hand']") == (
        f"gh repo create OWNER/NAME --private --clone --template {TEMPLATE}"
    )
    assert page.links()["Use the template on GitHub"] == f"{github.url}/{TEMPLATE}/generate"
    assert messages_of(create(client, number)) == [
        "The App may not create repositories on this account."
    ]


def test_nothing_is_said_without_a_template(
    ada: User, browser_of: Browser, acme: Workspace, settings: Settings, number: int
) -> None:
    settings.TEMPLATE_REPOSITORY = ""
    assert page_of(browser_of(ada).get(AT_ACME)).all(".//details") == []
