"""Every role against every action: a workspace address without an entry here fails."""

import pytest
from django.urls import get_resolver

from rollouts_app.models import Invitation, Membership, Repository
from tests.github_emulator import GitHubEmulator
from tests.members import Role, deed, join, roles, signed_in
from tests.test_access import WS, answer_to, routes, undone

pytestmark = pytest.mark.django_db

EVERYBODY, MANAGERS, OWNERS = "owner admin member", "owner admin", "owner"

# Who may look, and who may act: everyone else of the workspace is told that their role does not
# allow it.
MAY = {
    WS: (EVERYBODY, EVERYBODY),
    f"{WS}/rollouts": (EVERYBODY, EVERYBODY),
    f"{WS}/rollouts/<str:name>": (EVERYBODY, EVERYBODY),
    f"{WS}/branches": (EVERYBODY, EVERYBODY),
    f"{WS}/compare": (EVERYBODY, EVERYBODY),
    f"{WS}/sync-status": (EVERYBODY, EVERYBODY),
    f"{WS}/new-rollout": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/syncs": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/syncs/<int:run_id>": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/syncs/<int:run_id>/retry": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/syncs/<int:run_id>/cancel": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/deliveries": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/permissions": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/sync-now": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/installation": (EVERYBODY, MANAGERS),
    f"{WS}/integrations/git/repository": (EVERYBODY, MANAGERS),
    f"{WS}/integrations/git/new-repository": (EVERYBODY, MANAGERS),
    f"{WS}/integrations/git/request": (EVERYBODY, MANAGERS),
    f"{WS}/integrations/git/request/drop": (EVERYBODY, MANAGERS),
    f"{WS}/setup-steps": (EVERYBODY, EVERYBODY),
    f"{WS}/integrations/git/repositories/<int:repository_id>/disconnect": (MANAGERS, MANAGERS),
    f"{WS}/integrations/git/repositories/<int:repository_id>/deactivate": (MANAGERS, MANAGERS),
    f"{WS}/integrations/git/repositories/<int:repository_id>/delete": (MANAGERS, MANAGERS),
    f"{WS}/integrations/git/repositories/<int:repository_id>/reconnect": (EVERYBODY, MANAGERS),
    f"{WS}/members": (EVERYBODY, EVERYBODY),
    f"{WS}/members/invite": (MANAGERS, MANAGERS),
    f"{WS}/members/invitations/<int:invitation_id>/resend": (EVERYBODY, MANAGERS),
    f"{WS}/members/invitations/<int:invitation_id>/revoke": (MANAGERS, MANAGERS),
    f"{WS}/members/<int:membership_id>/role": (EVERYBODY, MANAGERS),
    f"{WS}/members/<int:membership_id>/owner": (OWNERS, OWNERS),
    f"{WS}/members/<int:membership_id>/hand-over": (OWNERS, OWNERS),
    f"{WS}/members/<int:membership_id>/remove": (MANAGERS, MANAGERS),
    f"{WS}/audit": (OWNERS, EVERYBODY),
    f"{WS}/api-keys": (EVERYBODY, EVERYBODY),
    f"{WS}/api-keys/new": (EVERYBODY, EVERYBODY),
    f"{WS}/api-keys/<slug:key_id>/revoke": (EVERYBODY, EVERYBODY),
    f"{WS}/benchmarks": (EVERYBODY, EVERYBODY),
    f"{WS}/leave": (EVERYBODY, EVERYBODY),
    f"{WS}/settings": (EVERYBODY, MANAGERS),
    f"{WS}/settings/access": (EVERYBODY, OWNERS),
    f"{WS}/delete": (OWNERS, OWNERS),
}
# What somebody may do to somebody of a role: change it, make an owner, hand over, remove.
DEEDS = ("role", "owner", "hand-over", "remove")
MAY_DO_TO = {
    ("owner", "owner"): DEEDS,
    ("owner", "admin"): DEEDS,
    ("owner", "member"): DEEDS,
    ("admin", "owner"): (),
    ("admin", "admin"): ("role", "remove"),
    ("admin", "member"): ("role", "remove"),
    ("member", "owner"): (),
    ("member", "admin"): (),
    ("member", "member"): (),
}


def test_it_knows_every_address_of_a_workspace() -> None:
    assert sorted(MAY) == sorted(each for each in routes(get_resolver()) if each.startswith(WS))


@pytest.mark.parametrize("role", Role.values)
def test_it_allows_each_role_what_the_table_says(
    role: str, synced: Repository, github: GitHubEmulator
) -> None:
    someone = join(synced.workspace, github, "katherine", role).user
    answers = {
        route: tuple(answer_to(route, method, synced, someone) for method in ("get", "post"))
        for route in MAY
    }
    assert {
        route: tuple(status != "403" for status in statuses) for route, statuses in answers.items()
    } == {
        route: tuple(role in roles.split() for roles in allowed) for route, allowed in MAY.items()
    }
    assert "500" not in {status for statuses in answers.values() for status in statuses}


def test_it_protects_each_role_from_those_below(synced: Repository, github: GitHubEmulator) -> None:
    workspace = synced.workspace
    actor = join(workspace, github, "katherine", "member")
    other = join(workspace, github, "grace", "member")
    for (actor_role, other_role), may_do in MAY_DO_TO.items():
        for name in DEEDS:
            with undone():
                workspace.memberships.filter(pk=actor.pk).update(role=actor_role)
                workspace.memberships.filter(pk=other.pk).update(role=other_role)
                before = roles(workspace)
                values = {"role": "admin" if other_role == "member" else "member"}
                answer = signed_in(actor.user).post(deed(other, name), values)
                case, may = (actor_role, name, other_role), name in may_do
                assert (case, answer.status_code) == (case, 302 if may else 403)
                # Making an owner of an owner is no change.
                changes = may and (name, other_role) != ("owner", "owner")
                assert (case, roles(workspace) != before) == (case, changes)


@pytest.mark.parametrize("actor_role", Role.values)
@pytest.mark.parametrize("given", Role.values)
@pytest.mark.parametrize("name", ["invite", "resend", "revoke"])
def test_nobody_invites_above_what_they_may_give(
    actor_role: str, given: str, name: str, synced: Repository, github: GitHubEmulator
) -> None:
    workspace = synced.workspace
    actor = join(workspace, github, "katherine", actor_role)
    client = signed_in(actor.user)
    waiting = Invitation.objects.create(workspace=workspace, role=given, token_hash="x")
    may = (
        given
        in {
            "owner": ["owner", "admin", "member"],
            "admin": ["admin", "member"],
            "member": [],
        }[actor_role]
    )
    if name == "invite":
        answer = client.post("/acme/members/invite", {"how": "link", "role": given})
        refused = 403 if actor_role == "member" else 422
        assert Invitation.objects.count() == 1 + may
    else:
        answer = client.post(f"/acme/members/invitations/{waiting.pk}/{name}")
        refused = 403
    assert answer.status_code == (302 if may else refused)


@pytest.mark.parametrize("role", Role.values)
def test_nobody_changes_their_own_role(
    role: str, synced: Repository, github: GitHubEmulator
) -> None:
    own: Membership = join(synced.workspace, github, "katherine", role)
    for name in DEEDS:
        assert signed_in(own.user).post(deed(own, name), {"role": "admin"}).status_code == 403
    own.refresh_from_db()
    assert own.role == role
