"""docs/cli-api.yaml tells the truth: schemathesis asks for all that it describes, and for more."""

import re
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import override_settings
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase
from schemathesis import Case
from schemathesis.openapi import from_path
from schemathesis.specs.openapi.checks import positive_data_acceptance

from rollouts_app.models import Membership, User, Workspace
from tests.cli_api import GIT, make_rollouts, make_token
from tests.test_access import routes
from tests.workers import ROOT

pytestmark = pytest.mark.django_db

DESCRIPTION = from_path(ROOT / "docs" / "cli-api.yaml")
DESCRIPTION.app = get_wsgi_application()


@pytest.fixture
def token(db: None) -> Iterator[str]:
    """Calls share the test's own transaction, whose connection stays open, as Client has it."""
    owner = User.objects.create(username="ada", github_login="ada", github_id=1)
    acme = Workspace.objects.create(slug="acme")
    Membership.objects.create(workspace=acme, user=owner, role="owner")
    make_rollouts(acme, 3)
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    # The name that schemathesis calls by.
    with override_settings(ALLOWED_HOSTS=["localhost"]):
        yield make_token(owner)
    for signal in signals:
        signal.connect(close_old_connections)


def test_it_describes_every_address() -> None:
    paths = DESCRIPTION.raw_schema["paths"]
    described = {"api/cli" + re.sub(r"{(\w+)}", r"<slug:\1>", path) for path in paths}
    ours = {route for route in routes(get_resolver()) if route.startswith("api/cli/")}
    assert ours - described == {"api/cli/<path:rest>"}
    assert described - ours == set()


@pytest.mark.parametrize("git", ["generated", GIT])
@DESCRIPTION.parametrize()
@hypothesis.settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_it_answers_as_described(case: "Case[Any]", token: str, git: str) -> None:
    # Thousands of devices from one address are what is slowed down.
    cache.clear()
    if git == GIT:
        case.headers["X-Osmosis-Git"] = git
        case.headers.pop("X-Osmosis-Workspace", None)
    case.call_and_validate(
        headers={"Authorization": f"Bearer {token}"},
        # Which codes, workspaces and branches there are, no description can tell.
        excluded_checks=[positive_data_acceptance],
    )
