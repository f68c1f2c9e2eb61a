"""Whatever goes wrong below /api/cli/, the command line gets JSON it can print."""

import pytest
from django.db import connection
from django.test import Client, override_settings

from rollouts_app.models import User
from tests.cli_api import Cli, make_token

pytestmark = pytest.mark.django_db

FEATURES = {
    "datasets": "Datasets",
    "datasets/maths/download": "Datasets",
    "training-runs": "Training runs",
    "eval-runs/7/metrics": "Eval runs",
    "environment-secrets": "Environment secrets",
    "models/base/Qwen%2FQwen3": "Models",
    "benchmarks": "Benchmarks",
    "benchmark-runs": "Benchmark runs",
}


@pytest.mark.parametrize("path", FEATURES)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_it_names_what_is_not_built(method: str, path: str) -> None:
    status, body = Cli().call(method, path, {} if method != "GET" else None)
    sentence = (
        f"{FEATURES[path]} are not part of this server: it syncs rollouts from Git and lists them."
    )
    assert (status, body) == (
        404,
        {"error": sentence, "message": sentence, "code": "NOT_FOUND"},
    )


@pytest.mark.parametrize("path", ["nothing", "rollouts/", "rollouts/maths", "verify/x", "%00", ""])
def test_unknown_addresses_are_json_too(path: str) -> None:
    assert Cli().refusal(path) == (404, "NOT_FOUND")


def test_a_wrong_method_says_which_is_right() -> None:
    status, body = Cli().call("POST", "rollouts", {})
    assert (status, body["code"], body["message"]) == (
        *(405, "METHOD_NOT_ALLOWED", "This address takes GET, HEAD."),
    )


def test_a_fault_of_ours_is_json(ada: User) -> None:
    """A table that is missing, as after half an upgrade."""
    token = make_token(ada)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE rollouts_app_membership RENAME TO elsewhere")
    assert Cli(token).refusal("rollouts") == (500, "SERVER_ERROR")


def test_a_name_that_is_not_ours_is_json() -> None:
    cli = Cli(Host="elsewhere.example")
    assert cli.refusal("verify") == (400, "BAD_REQUEST")


@override_settings(SECURE_SSL_REDIRECT=True)
def test_nothing_is_redirected() -> None:
    status, body = Cli().get("verify")
    assert (status, body["code"]) == (421, "WRONG_ADDRESS")
    assert "Location" not in Client().get("/api/cli/verify").headers
