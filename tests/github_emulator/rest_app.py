"""The API's part about the App, its installations and their tokens.

https://docs.github.com/en/rest/apps
"""

from .credentials import SUSPENDED, Refused
from .finding import number_of
from .records import Installation, Repository
from .rest import Call, api, counted_list, page
from .shapes import Json, node_id, timestamp
from .web import Answer, Routes, json_answer

ROUTES = Routes()


@api(ROUTES, "GET", "/app")
def app(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app"""
    call.by_app()
    return json_answer(call.shapes.app())


@api(ROUTES, "GET", "/app/installation-requests")
def installation_requests(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/apps
    #list-installation-requests-for-the-authenticated-app
    """
    call.by_app()
    accounts = call.world.state.accounts
    every: list[Json] = [
        {
            "id": asked.id,
            "node_id": node_id("IntegrationInstallationRequest", asked.id),
            "account": call.shapes.account(accounts[asked.account_id]),
            "requester": call.shapes.account(accounts[asked.requester_id]),
            "created_at": timestamp(asked.created_at),
        }
        for asked in call.world.state.requests.values()
    ]
    return page(call, every, list)


@api(ROUTES, "GET", "/app/installations")
def installations(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/apps#list-installations-for-the-authenticated-app"""
    call.by_app()
    every = list(call.world.state.installations.values())
    return page(call, every, lambda some: [call.shapes.installation(i) for i in some])


@api(ROUTES, "GET", "/app/installations/{number}")
def installation(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app"""
    call.by_app()
    return json_answer(call.shapes.installation(_installation(call, number)))


@api(ROUTES, "POST", "/app/installations/{number}/access_tokens")
def create_token(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app"""
    call.by_app()
    record = _installation(call, number)
    if record.suspended_at:
        raise Refused(403, SUSPENDED)
    chosen = _chosen_repositories(call, record)
    permissions = _chosen_permissions(call, record)
    ids = None if chosen is None else [repository.id for repository in chosen]
    value = call.world.token_for(record.id, permissions=permissions, repository_ids=ids)
    token = call.world.state.tokens[value]
    answer: Json = {
        "token": value,
        "expires_at": timestamp(token.expires_at),
        "permissions": token.permissions,
        "repository_selection": record.selection if chosen is None else "selected",
    }
    if chosen is not None:
        answer["repositories"] = [call.shapes.repository(repository) for repository in chosen]
    return json_answer(answer, 201)


@api(ROUTES, "DELETE", "/installation/token")
def revoke_token(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/installations#revoke-an-installation-access-token"""
    call.by_installation()
    if call.caller.token:
        call.world.revoke_token(call.caller.token.value)
    return Answer(204)


@api(ROUTES, "GET", "/installation/repositories")
def repositories(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/installations
    #list-repositories-accessible-to-the-app-installation
    """
    record, token = call.by_installation(), call.caller.token
    every = call.world.state.repositories_of(record)
    reached = [r for r in every if token and call.world.token_reaches(token, r)]
    contents = record.permissions.get("contents")
    return page(
        call,
        [call.shapes.repository(r, "write" if contents == "write" else "read") for r in reached],
        lambda some: {
            **counted_list("repositories", len(reached))(some),
            "repository_selection": record.selection,
        },
    )


def _installation(call: Call, number: str) -> Installation:
    return call.world.installation(number_of(number))


def _chosen_repositories(call: Call, record: Installation) -> list[Repository] | None:
    """The repositories a token is asked to be limited to; None when it is not."""
    asked = call.request.fields
    names, ids = asked.get("repositories"), asked.get("repository_ids")
    if names is None and ids is None:
        return None
    reached = call.world.state.repositories_of(record)
    chosen = [r for r in reached if r.name in (names or []) or r.id in (ids or [])]
    if len(chosen) < len(names or []) + len(ids or []):
        words = "There is at least one repository that does not exist or is not accessible to the "
        raise Refused(422, words + "parent installation.")
    return chosen


def _chosen_permissions(call: Call, record: Installation) -> dict[str, str] | None:
    """The permissions a token is asked to be limited to; None when it is not, or to none."""
    asked = call.request.fields.get("permissions")
    if not asked or not isinstance(asked, dict):
        return None
    for name, level in asked.items():
        if record.permissions.get(name) not in (level, "write"):
            words = "The permissions requested are not granted to this installation."
            raise Refused(422, words)
    return asked
