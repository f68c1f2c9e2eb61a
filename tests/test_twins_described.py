"""The twins answer as docs/api.yaml says, whatever they are asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as trying
from hypothesis import strategies as st
from pytest_django.fixtures import Settings
from schemathesis.specs.openapi.checks import ignored_auth

from rollouts_app.models import Repository, User
from tests.conftest import FILES
from tests.github_emulator import GitHubEmulator
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

DESCRIPTION = Path(__file__).resolve().parent.parent / "docs" / "api.yaml"
SCHEMA = schemathesis.openapi.from_path(str(DESCRIPTION))
SCHEMA.app = get_wsgi_application()
OPERATIONS = {
    operation.definition.raw["operationId"]: operation
    for result in SCHEMA.get_all_operations()
    if (operation := result.ok())  # type: ignore[union-attr]
}
# Values of the world below, so that more than faults are met.
MEANT = {
    "workspace": st.just("acme"),
    "name": st.sampled_from(["maths", "search", "new"]),
    "branch": st.sampled_from(["main", "dev", "gone", "", "nope"]),
    "base": st.sampled_from(["main", "dev", "gone"]),
    "q": st.sampled_from(["", "a", "sea", "nothing"]),
}


@pytest.fixture
def in_one_transaction(settings: Settings) -> Iterator[None]:
    """Requests do not end the test's transaction: Django's own test client sees to it, too."""
    settings.ALLOWED_HOSTS = ["localhost"]
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def world(synced: Repository, github: GitHubEmulator, in_one_transaction: None) -> Repository:
    """Changed, added and removed rollouts, problems of all kinds, and a deleted branch."""
    broken = FILES["configs/eval/maths.toml"].replace("required", "requires").replace("main", "no")
    files = {
        "rollouts/maths/pyproject.toml": '[project]\nname = "m"\nlicense = "MIT"\ntags = ["x"]\n',
        "rollouts/search/README.md": None,
        "rollouts/new/README.md": "# New\n\nIt is new.",
        "configs/eval/maths.toml": broken,
        "configs/training/x.toml": "[experiment\n",
    }
    github.push(NAME, "dev", files, start="main")
    github.create_branch(NAME, "gone", "dev")
    check_all(synced)
    github.delete_branch(NAME, "gone")
    check_all(synced)
    return synced


@pytest.mark.parametrize("name", OPERATIONS)
def test_it_answers_as_described(name: str, world: Repository, ada: User) -> None:
    operation = OPERATIONS[name]
    [cookie] = client_of(ada).cookies.values()
    met = set()

    @trying(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), data=st.data())
    def ask(case: schemathesis.Case[Any], data: st.DataObject) -> None:
        for values in (case.path_parameters, case.query):
            for key in MEANT.keys() & values.keys():
                if data.draw(st.integers(0, 9)) < 8:
                    values[key] = data.draw(MEANT[key])
        case.cookies = {cookie.key: cookie.value}
        answer = case.call()
        # The session is good, whatever token is tried beside it.
        case.validate_response(answer, excluded_checks=[ignored_auth])
        met.add(answer.status_code)

    ask()
    assert met == {200, 404}


def test_without_a_session_it_asks_to_sign_in(world: Repository) -> None:
    for operation in OPERATIONS.values():
        values = {key: "acme" if key == "workspace" else "maths" for key in ("workspace", "name")}
        case = operation.Case(path_parameters=values, query={"format": "json"})
        answer = case.call()
        case.validate_response(answer)
        assert answer.status_code == 401
