"""Which workspace a call of the command line is about, and for whom."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from rollouts_app import memberships
from rollouts_app.connection import disconnect
from rollouts_app.models import Membership, Repository, RepositoryName, User, Workspace
from tests.cli_api import Cli, key_behind, make_token

pytestmark = pytest.mark.django_db

DENIED = (403, "GIT_SCOPE_HEADER_ACCESS_DENIED")


@pytest.mark.parametrize("git", ["acme/agents", "Acme/Agents", "ACME/AGENTS"])
def test_letter_case_does_not_matter(git: str, synced: Repository, ada: User) -> None:
    status, body = Cli(make_token(ada), git).get("verify")
    assert status == 200
    assert body["workspace"] == {"id": str(synced.workspace_id), "name": "acme", "role": "owner"}


@pytest.mark.parametrize("git", ["", "agents", "a/b/c", "-a/b", "a_b/c", "a/b c", "ä/b", "a/"])
def test_it_refuses_what_is_no_repository(git: str, synced: Repository, ada: User) -> None:
    cli = Cli(make_token(ada), git)
    assert cli.refusal("rollouts") == (400, "GIT_SCOPE_HEADER_INVALID")
    assert cli.refusal("verify") == (400, "GIT_SCOPE_HEADER_INVALID")


def test_it_does_not_tell_what_is_not_there_from_what_is_foreign(
    synced: Repository, ada: User, mallory: User
) -> None:
    foreign = Cli(make_token(mallory)).get("rollouts")
    unknown = Cli(make_token(ada), "acme/nothing").get("rollouts")
    assert foreign == unknown
    assert (foreign[0], foreign[1]["code"]) == DENIED
    assert Cli(make_token(mallory)).get("verify")[1]["workspace"] is None


def test_it_refuses_both_headers_and_neither(synced: Repository, ada: User) -> None:
    both = Cli(make_token(ada), **{"X-Osmosis-Workspace": "acme"})
    assert both.refusal("rollouts") == (400, "WORKSPACE_SCOPE_HEADER_CONFLICT")
    neither = Cli(make_token(ada), git=None)
    assert neither.refusal("rollouts") == (400, "GIT_SCOPE_HEADER_REQUIRED")
    assert neither.get("verify")[1]["workspace"] is None


def test_a_workspace_goes_by_its_name(synced: Repository, ada: User, mallory: User) -> None:
    for name in ("acme", "ACME"):
        cli = Cli(make_token(ada), git=None, **{"X-Osmosis-Workspace": name})
        assert len(cli.get("rollouts")[1]["rollouts"]) == 2
    denied = (403, "WORKSPACE_SCOPE_HEADER_ACCESS_DENIED")
    for person, name in ((ada, "nowhere"), (mallory, "acme")):
        cli = Cli(make_token(person), git=None, **{"X-Osmosis-Workspace": name})
        assert cli.refusal("rollouts") == denied


def test_a_workspace_goes_by_its_former_name(synced: Repository, ada: User) -> None:
    Workspace.objects.filter(slug="acme").update(slug="apex")
    cli = Cli(make_token(ada), git=None, **{"X-Osmosis-Workspace": "acme"})
    assert cli.get("verify")[1]["workspace"]["name"] == "apex"


def test_a_workspace_without_a_repository_says_so(acme: Workspace, ada: User) -> None:
    cli = Cli(make_token(ada), git=None, **{"X-Osmosis-Workspace": "acme"})
    assert cli.refusal("rollouts") == (404, "REPOSITORY_NOT_CONNECTED")


def test_a_former_name_goes_on_with_a_hint(synced: Repository, ada: User, mallory: User) -> None:
    synced.learn(full_name="acme/Rollouts")
    cli = Cli(make_token(ada))
    assert len(cli.get("rollouts")[1]["rollouts"]) == 2
    assert cli.answered["X-Osmosis-Version-Status"] == "deprecated"
    assert cli.answered["X-Osmosis-Version-Message"] == (
        "acme/agents is called acme/Rollouts now. In your clone, run: "
        "git remote set-url origin https://github.com/acme/Rollouts.git"
    )
    cli = Cli(make_token(ada), "acme/rollouts")
    assert cli.get("verify")[1]["workspace"]["name"] == "acme"
    assert "X-Osmosis-Version-Status" not in cli.answered
    assert Cli(make_token(mallory)).refusal("rollouts") == DENIED


def test_a_name_is_that_of_who_has_it_now(
    synced: Repository, ada: User, installation: object
) -> None:
    """Of two, the one that was given the name of the other after that was renamed."""
    synced.learn(full_name="acme/first")
    other = Workspace.objects.create(slug="second")
    Membership.objects.create(workspace=other, user=ada, role="owner")
    newer = Repository.objects.create(
        workspace=other,
        installation=synced.installation,
        github_id=999,
        full_name="acme/agents",
        default_branch="main",
        is_private=False,
    )
    assert Cli(make_token(ada)).get("verify")[1]["workspace"]["name"] == "second"
    newer.learn(full_name="acme/third")
    assert Cli(make_token(ada)).get("verify")[1]["workspace"]["name"] == "second"
    assert sorted(RepositoryName.objects.values_list("full_name", flat=True)) == [
        *("acme/agents", "acme/agents", "acme/first", "acme/third")
    ]


def test_a_repository_that_was_disconnected_is_nobodys(synced: Repository, ada: User) -> None:
    disconnect(ada, synced)
    assert Cli(make_token(ada)).refusal("rollouts") == DENIED
    assert Cli(make_token(ada)).get("workspaces")[1]["workspaces"][0]["connected_repo"] is None


def test_access_ends_with_the_membership(
    synced: Repository, acme: Workspace, ada: User, linus: User
) -> None:
    login, key = make_token(linus), make_token(linus, acme)
    assert Cli(login).get("rollouts")[0] == Cli(key).get("rollouts")[0] == 200
    own = acme.memberships.get(user=linus)
    memberships.remove(ada, acme, own.pk)
    assert Cli(login).refusal("rollouts") == DENIED
    assert Cli(login).get("workspaces")[1] == {"workspaces": []}
    # A key of the workspace does not come back to life with a new membership.
    Membership.objects.create(workspace=acme, user=linus, role="member")
    assert Cli(key).refusal("rollouts") == (401, "TOKEN_REVOKED")


def test_a_key_is_good_for_its_workspace_alone(
    synced: Repository, acme: Workspace, ada: User
) -> None:
    other = Workspace.objects.create(slug="other")
    Membership.objects.create(workspace=other, user=ada, role="owner")
    assert Cli(make_token(ada, other)).refusal("rollouts") == DENIED
    cli = Cli(make_token(ada, acme))
    assert [each["name"] for each in cli.get("workspaces")[1]["workspaces"]] == ["acme"]
    path = f"quickstart?organizationId={other.pk}"
    assert cli.refusal(path) == (404, "NOT_FOUND")


def test_use_is_written_down_once_a_minute(synced: Repository, ada: User) -> None:
    token = make_token(ada)
    Cli(token).get("verify")
    first = key_behind(token).last_used_at
    Cli(token).get("verify")
    assert first is not None
    assert key_behind(token).last_used_at == first
    key = key_behind(token)
    key.last_used_at = now() - timedelta(seconds=61)
    key.save()
    Cli(token).get("verify")
    again = key_behind(token).last_used_at
    assert again is not None
    assert again >= first
