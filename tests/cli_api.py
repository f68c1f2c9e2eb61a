"""The command line's side of a call: its headers, its token, what it is answered."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import (
    Branch,
    Catalog,
    CliToken,
    Installation,
    Repository,
    Rollout,
    RolloutVersion,
    User,
    Workspace,
)
from rollouts_app.models.tokens import new_token

GIT = "acme/agents"


def make_token(user: User, workspace: Workspace | None = None, days: int = 90) -> str:
    """A token of somebody's: a sign-in, or the key of a workspace."""
    key, token = new_token(user, "laptop", now() + timedelta(days=days))
    key.workspace = workspace
    key.save()
    return token


def key_behind(token: str) -> CliToken:
    return CliToken.objects.with_token(token).get()


class Cli:
    """Calls as the command line makes them; `git` is what it takes its clone for."""

    def __init__(self, token: str = "", git: str | None = GIT, **more: str) -> None:
        self.headers = {"X-Osmosis-CLI-Version": "0.3.8", "User-Agent": "osmosis-cli/0.3.8", **more}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if git is not None:
            self.headers["X-Osmosis-Git"] = git
        self._client = Client(raise_request_exception=False)

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """The status, and the JSON answered."""
        response = self._client.generic(
            method,
            f"/api/cli/{path}",
            data=b"" if body is None else as_json(body),
            content_type="application/json",
            headers=self.headers,
        )
        assert response.headers["Content-Type"] == "application/json"
        self.answered = dict(response.headers)
        return response.status_code, response.json()

    def get(self, path: str) -> tuple[int, Any]:
        return self.call("GET", path)

    def post(self, path: str, body: object) -> tuple[int, Any]:
        return self.call("POST", path, body)

    def refusal(self, path: str, method: str = "GET") -> tuple[int, str]:
        """The status and code of an error, which has all three words."""
        status, body = self.call(method, path)
        assert body.keys() == {"error", "message", "code"}
        return status, body["code"]


def as_json(body: object) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def make_rollouts(workspace: Workspace, number: int) -> Repository:
    """A public repository whose main branch shows so many rollouts: rows alone, without git."""
    installation = Installation.objects.create(
        github_id=1, account_id=1, account_login="acme", account_type="Organization"
    )
    repository = Repository.objects.create(
        workspace=workspace,
        installation=installation,
        github_id=1,
        full_name=GIT,
        default_branch="main",
        is_private=False,
        heads_checked_at=now(),
    )
    versions = [
        RolloutVersion.objects.create(
            rollout=Rollout.objects.create(repository=repository, name=f"rollout-{place:03}"),
            tree_id=f"{place:040x}",
            description=f"What rollout {place} does, in a line.",
            readme="What it does at length.\n" * 80,
            metadata={"tags": ["maths", "search"]},
        )
        for place in range(number)
    ]
    catalog = Catalog.objects.create(
        repository=repository, rollouts_tree="a" * 40, versions=[each.pk for each in versions]
    )
    Branch.objects.create(
        repository=repository, name="main", commit="c" * 40, catalog=catalog, changed_at=now()
    )
    return repository
