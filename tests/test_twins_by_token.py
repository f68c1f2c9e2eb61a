"""The twins of pages open to bearer tokens, and no other page does."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import CliToken, Repository, User, Workspace
from tests.cli_api import make_token
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

LIST = "/acme/rollouts?format=json"


def asked(token: str, path: str = LIST, status: int = 200) -> Any:
    answer = Client().get(path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == status
    assert answer.cookies == {}
    return answer.json()


def test_a_key_and_a_sign_in_see_what_their_person_sees(synced: Repository, ada: User) -> None:
    for token in (make_token(ada, synced.workspace), make_token(ada)):
        assert asked(token)["repository"] == NAME
        assert asked(token, "/acme/rollouts/maths?format=json")["name"] == "maths"
        assert asked(token, "/acme/compare?format=json")["changes"] == []


def test_a_key_is_good_for_its_workspace_alone(synced: Repository, ada: User) -> None:
    other = Workspace.objects.create(slug="other")
    other.memberships.create(user=ada, role="owner")
    assert asked(make_token(ada, other), status=404)["code"] == "NOT_FOUND"
    assert asked(make_token(ada, other), "/other/rollouts?format=json")["repository"] is None


def test_a_token_that_is_not_good_is_refused_with_the_reason(
    synced: Repository, ada: User, linus: User
) -> None:
    token = make_token(ada, synced.workspace)
    CliToken.objects.update(expires_at=now() - timedelta(seconds=1))
    assert asked(token, status=401)["code"] == "TOKEN_EXPIRED"
    CliToken.objects.update(revoked_at=now())
    assert asked(token, status=401)["code"] == "TOKEN_REVOKED"
    assert asked("osmw_nonsense", status=401)["code"] == "TOKEN_INVALID"


def test_access_ends_with_the_membership(synced: Repository, linus: User) -> None:
    token = make_token(linus, synced.workspace)
    assert asked(token)["total_count"] == 2
    synced.workspace.memberships.filter(user=linus).delete()
    assert asked(token, status=404)["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "path",
    ["/acme/rollouts", "/acme/settings?format=json", "/acme/members?format=json", "/account"],
)
def test_nothing_else_opens(synced: Repository, ada: User, path: str) -> None:
    headers = {"Authorization": f"Bearer {make_token(ada, synced.workspace)}"}
    assert Client().get(path, headers=headers).status_code in {302, 401}
    assert Client().post(path, headers=headers).status_code in {302, 401}
