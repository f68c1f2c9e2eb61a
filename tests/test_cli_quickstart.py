"""The first steps, as the command line sees them done, and as they are told in the checklist."""

import pytest
from pytest_django import Settings

from rollouts_app.models import Membership, Repository, User, Workspace
from tests.cli_api import Cli, make_token
from tests.conftest import Browser, counted_queries
from tests.onboarding import AT_ACME, steps
from tests.pages import page_of

pytestmark = pytest.mark.django_db


def test_it_lists_the_bearers_workspaces(synced: Repository, acme: Workspace, linus: User) -> None:
    other = Workspace.objects.create(slug="other")
    Membership.objects.create(workspace=other, user=linus, role="owner")
    assert Cli(make_token(linus), git=None).get("workspaces") == (
        200,
        {
            "workspaces": [
                {
                    "id": str(acme.pk),
                    "name": "acme",
                    "role": "member",
                    "connected_repo": {"id": str(synced.pk), "repo_full_name": "acme/agents"},
                    "has_billing_setup": True,
                },
                {
                    "id": str(other.pk),
                    "name": "other",
                    "role": "owner",
                    "connected_repo": None,
                    "has_billing_setup": True,
                },
            ]
        },
    )


def test_it_keeps_when_quickstart_ended_and_what_for(
    synced: Repository, acme: Workspace, ada: User, linus: User
) -> None:
    cli, own = Cli(make_token(ada), git=None), acme.memberships.get(user=ada)
    address = f"quickstart?organizationId={acme.pk}"
    begun = {
        "repo": {"connected": True, "full_name": "acme/agents"},
        "billing_ready": True,
        "completed": False,
        "intent": None,
    }
    assert cli.get(address) == (200, begun)
    body = {"organizationId": str(acme.pk), "intent": "train"}
    assert cli.post("quickstart", body) == (200, {"completed": True, "intent": "train"})
    own.refresh_from_db()
    first = own.quickstart_completed_at
    assert cli.post("quickstart", {**body, "intent": "eval"})[0] == 200
    own.refresh_from_db()
    assert (own.quickstart_completed_at, own.quickstart_intent) == (first, "eval")
    assert cli.get(address) == (200, {**begun, "completed": True, "intent": "eval"})
    assert Cli(make_token(linus), git=None).get(address) == (200, begun)


@pytest.mark.parametrize(
    "body",
    [
        *(
            {},
            {"organizationId": "1"},
            {"intent": "train"},
            {"organizationId": 1, "intent": "eval"},
        ),
        {"organizationId": "{acme}", "intent": "rule"},
    ],
)
def test_it_refuses_what_says_nothing(body: dict[str, object], acme: Workspace, ada: User) -> None:
    sent = {name: str(acme.pk) if value == "{acme}" else value for name, value in body.items()}
    status, answer = Cli(make_token(ada), git=None).post("quickstart", sent)
    assert status in {400, 404}
    assert acme.memberships.get(user=ada).quickstart_completed_at is None
    assert answer["code"] in {"VALIDATION", "NOT_FOUND"}


def test_it_refuses_workspaces_of_others(acme: Workspace, mallory: User) -> None:
    cli = Cli(make_token(mallory), git=None)
    assert cli.refusal("quickstart") == (400, "VALIDATION")
    for number in (str(acme.pk), "0", "x", "99999999999999999999", "\u0664"):
        assert cli.refusal(f"quickstart?organizationId={number}") == (404, "NOT_FOUND")
    body = {"organizationId": str(acme.pk), "intent": "train"}
    assert cli.post("quickstart", body)[0] == 404


def test_the_checklist_tells_of_it(
    synced: Repository, acme: Workspace, ada: User, browser_of: Browser, settings: Settings
) -> None:
    body = {"organizationId": str(acme.pk), "intent": "explore"}
    Cli(make_token(ada), git=None).post("quickstart", body)
    day = acme.memberships.get(user=ada).quickstart_completed_at
    client = browser_of(ada)
    settings.GITHUB_URL = "https://github.com"
    assert steps(page_of(client.get(AT_ACME)))[3:] == [
        "done: Done: Cloned Show Clone",
        "done: Done: Command line installed, signed in: osmosis quickstart gone through on "
        f"{day:%d %B %Y}, to look around Show Command line",
        "open: Verify",
    ]


def test_whoami_in_the_clone_is_the_last_step(
    synced: Repository, acme: Workspace, ada: User, linus: User
) -> None:
    Cli(make_token(ada), git=None).get("verify")
    assert acme.memberships.get(user=ada).setup_done == []
    cli = Cli(make_token(ada))
    cli.get("verify")
    assert acme.memberships.get(user=ada).setup_done == ["cli", "verify"]
    assert acme.memberships.get(user=linus).setup_done == []
    with counted_queries() as queries:
        cli.get("verify")
    assert [query["sql"][:6] for query in queries] == ["SELECT", "SELECT"]
