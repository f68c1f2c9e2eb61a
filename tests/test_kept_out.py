"""Whom GitHub does not let read the private repository is told no name of it, at any address."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import Repository, User
from tests.conftest import Browser
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME
from tests.pages import page_of
from tests.test_access import DOORS, WS, path_of

pytestmark = pytest.mark.django_db

# The owner's record of what was done: who reads it may switch the rule off.
TELLS = {f"{WS}/audit"}
ASKED = [
    route for route, (get, _post) in DOORS.items() if get.split()[0] == "200" and route not in TELLS
]


@pytest.fixture
def kept_out(linus: User, synced: Repository, browser_of: Browser) -> Client:
    """Linus, whom GitHub refuses."""
    be(linus, synced, "member")
    return browser_of(linus)


def be(user: User, repository: Repository, role: str) -> None:
    repository.workspace.memberships.filter(user=user).update(
        role=role,
        may_read=False,
        asked_about=repository.pk,
        ask_again_at=now() + timedelta(hours=1),
    )


@pytest.mark.parametrize("role", ["member", "admin", "owner"])
def test_no_page_names_it(kept_out: Client, linus: User, synced: Repository, role: str) -> None:
    be(linus, synced, role)
    paths = [path_of(route, synced) for route in ASKED] + [AT_ACME]
    assert [path for path in paths if b"acme/agents" in kept_out.get(path).content] == []


@pytest.mark.parametrize("deed", ["disconnect", "deactivate"])
def test_an_admin_does_nothing_to_it(
    kept_out: Client, linus: User, synced: Repository, deed: str
) -> None:
    be(linus, synced, "admin")
    path = f"/acme/integrations/git/repositories/{synced.pk}/{deed}"
    for answer in (kept_out.get(path), kept_out.post(path, {"choice": "keep"})):
        assert page_of(answer, 403).text(".//main//h1") == (
            "GitHub does not let linus read the repository of this workspace"
        )
    assert Repository.objects.connected().count() == 1


def test_the_first_steps_say_whether_github_has_answered(
    kept_out: Client, linus: User, github: GitHubEmulator
) -> None:
    [said] = page_of(kept_out.get(AT_ACME)).texts(".//*[@class='notice attention']//p[1]")
    assert said.startswith("GitHub does not let linus read the repository of this workspace.")
    linus.memberships.update(may_read=None, asked_about=None)
    github.outage("/api/v3/repos")
    [said] = page_of(kept_out.get(AT_ACME)).texts(".//*[@class='notice attention']//p[1]")
    assert said == (
        "GitHub could not be asked yet whether linus may read the repository of this workspace."
    )
