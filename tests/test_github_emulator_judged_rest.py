"""Every answer of the emulator's API, judged by GitHub's own description of it."""

import json
import re
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
import requests

from tests.github_emulator import GitHubEmulator
from tests.github_emulator.emulator import ROUTES
from tests.github_emulator.rest import ROOT
from tests.github_schemas.judge import Undescribed, descriptions, faults_of_answer

# Repositories by number are not described, yet they are where the redirects of renamed ones lead.
SIBLING = ("/repositories/{number}", "/repos/{owner}/{repo}")
# What any call may be answered, whether its description lists it or not.
# https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
ANYWHERE = {301, 401, 403, 404, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Case:
    """A call and the status it gets. `address` as GitHub describes it, `path` as it is asked."""

    address: str
    path: str
    caller: str
    status: int = 200
    method: str = "GET"
    body: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} by {self.caller}: {self.status}"


REPOSITORY = "/repos/{owner}/{repo}"
BY_NUMBER = "/repositories/{number}"
INSTALLATION = "/app/installations/{installation_id}"
TOKENS = f"{INSTALLATION}/access_tokens"
CONVERSIONS = "/app-manifests/{code}/conversions"
READABLE = ("contents", "email_addresses", "metadata")
PERMISSIONS = {"administration": "write", **dict.fromkeys(READABLE, "read")}
NONE = {"repositories": ["none"]}
NEW = {"owner": "acme", "name": "new"}
GENERATE = "/repos/{template_owner}/{template_repo}/generate"
DELIVERY = "/app/hook/deliveries/{delivery_id}"
AGENTS_ADA = "/repos/acme/agents/collaborators/ada/permission"
PERMISSION = "/collaborators/{username}/permission"
MINE = "/user/installations/{installation_id}/repositories"
SUCCESSES = [
    Case("/app", "/app", "the App"),
    Case(CONVERSIONS, "/app-manifests/{code}/conversions", "nobody", 201, "POST"),
    Case("/app/hook/config", "/app/hook/config", "the App"),
    Case("/app/hook/deliveries", "/app/hook/deliveries?per_page=2", "the App"),
    Case(DELIVERY, "/app/hook/deliveries/{delivery}", "the App"),
    Case(
        DELIVERY + "/attempts", "/app/hook/deliveries/{delivery}/attempts", "the App", 202, "POST"
    ),
    Case("/app/installation-requests", "/app/installation-requests", "the App"),
    Case("/app/installations", "/app/installations", "the App"),
    Case(INSTALLATION, "/app/installations/{suspended}", "the App"),
    Case(TOKENS, "/app/installations/{installation}/access_tokens", "the App", 201, "POST"),
    Case("/installation/repositories", "/installation/repositories", "the installation"),
    Case("/installation/token", "/installation/token", "the leaving", 204, "DELETE"),
    Case("/meta", "/meta", "nobody"),
    Case("/rate_limit", "/rate_limit", "the installation"),
    Case(REPOSITORY, "/repos/acme/agents", "the installation"),
    Case(REPOSITORY, "/repos/acme/agents", "ada"),
    Case(REPOSITORY, "/repos/acme/empty", "the installation"),
    Case(REPOSITORY, "/repos/ada/open", "nobody"),
    Case(REPOSITORY + "/branches", "/repos/acme/agents/branches", "the installation"),
    Case(REPOSITORY + "/branches", "/repos/acme/empty/branches", "the installation"),
    Case(REPOSITORY + "/commits", "/repos/acme/agents/commits", "the installation"),
    Case(REPOSITORY + "/commits/{ref}", "/repos/acme/agents/commits/a/b", "the installation"),
    Case(REPOSITORY + "/installation", "/repos/acme/agents/installation", "the App"),
    Case(GENERATE, "/repos/acme/agents/generate", "ada", 201, "POST", NEW),
    Case(BY_NUMBER, "/repositories/{agents}", "the installation"),
    Case(BY_NUMBER + "/branches", "/repositories/{agents}/branches", "the installation"),
    Case(BY_NUMBER + "/commits", "/repositories/{agents}/commits", "the installation"),
    Case(BY_NUMBER + "/commits/{ref}", "/repositories/{agents}/commits/main", "the installation"),
    Case(BY_NUMBER + "/installation", "/repositories/{agents}/installation", "the App"),
    Case(REPOSITORY + PERMISSION, AGENTS_ADA, "the installation"),
    Case(REPOSITORY + PERMISSION, "/repos/acme/agents/collaborators/grace/permission", "ada"),
    Case(BY_NUMBER + PERMISSION, "/repositories/{agents}/collaborators/ada/permission", "ada"),
    Case("/user/{account_id}", "/user/{person}", "the installation"),
    Case("/user", "/user", "ada"),
    Case("/user/emails", "/user/emails", "ada"),
    Case("/user/installations", "/user/installations", "ada"),
    Case(MINE, "/user/installations/{installation}/repositories", "ada"),
    Case("/users/{username}", "/users/acme", "the installation"),
    Case("/users/{username}", "/users/ada", "nobody"),
]
REFUSALS = [
    Case("/app", "/app", "the installation", 401),
    Case("/app/hook/deliveries", "/app/hook/deliveries?cursor=x", "the App", 400),
    Case(DELIVERY, "/app/hook/deliveries/0", "the App", 404),
    Case(INSTALLATION, "/app/installations/0", "the App", 404),
    Case(TOKENS, "/app/installations/{suspended}/access_tokens", "the App", 403, "POST"),
    Case(TOKENS, "/app/installations/0/access_tokens", "the App", 404, "POST"),
    Case(CONVERSIONS, "/app-manifests/none/conversions", "nobody", 404, "POST"),
    Case(TOKENS, "/app/installations/{installation}/access_tokens", "the App", 422, "POST", NONE),
    Case("/installation/repositories", "/installation/repositories", "ada", 403),
    Case("/installation/repositories", "/installation/repositories", "the suspended", 403),
    Case("/installation/repositories", "/installation/repositories", "the removed", 401),
    Case(REPOSITORY, "/repos/acme/former", "the installation", 301),
    Case(REPOSITORY, "/repos/acme/agents", "nobody", 404),
    Case(REPOSITORY + "/branches", "/repos/acme/former/branches", "the installation", 301),
    Case(REPOSITORY + "/branches", "/repos/acme/agents/branches", "the blind", 403),
    Case(REPOSITORY + "/commits", "/repos/acme/empty/commits", "the installation", 409),
    Case(REPOSITORY + "/commits", "/repos/acme/agents/commits?sha=x", "the installation", 404),
    Case(REPOSITORY + "/commits/{ref}", "/repos/acme/empty/commits/x", "the installation", 409),
    Case(REPOSITORY + "/commits/{ref}", "/repos/acme/agents/commits/x", "the installation", 422),
    Case(REPOSITORY + "/installation", "/repos/acme/former/installation", "the App", 301),
    Case(REPOSITORY + "/installation", "/repos/linus/own/installation", "the App", 404),
    Case(BY_NUMBER, "/repositories/0", "the installation", 404),
    Case(REPOSITORY + PERMISSION, "/repos/acme/agents/collaborators/x/permission", "ada", 404),
    Case(REPOSITORY + PERMISSION, "/repos/acme/former/collaborators/ada/permission", "ada", 301),
    Case(GENERATE, "/repos/acme/agents/generate", "grace", 404, "POST", NEW),
    Case("/user/{account_id}", "/user/0", "the installation", 404),
    Case("/user", "/user", "nobody", 401),
    Case("/user", "/user", "the installation", 403),
    Case("/user/emails", "/user/emails", "the installation", 403),
    Case(MINE, "/user/installations/{suspended}/repositories", "ada", 403),
    Case(MINE, "/user/installations/{guarded}/repositories", "grace", 403),
    Case(MINE, "/user/installations/{listed}/repositories", "grace", 403),
    Case(MINE, "/user/installations/0/repositories", "ada", 404),
    Case("/users/{username}", "/users/nobody", "nobody", 404),
]


class World:
    """An emulator in which every case may be asked."""

    def __init__(self, github: GitHubEmulator) -> None:
        self.github = github
        github.add_user("grace")
        for organization in ("asked", "guarded", "listed", "resting", "left"):
            github.add_organization(organization, owners=["grace", "ada"])
        github.create_repository("acme/agents", files={"README.md": "Agents\n"})
        github.create_branch("acme/agents", "a/b", "main")
        github.create_repository("acme/empty")
        github.create_repository("acme/former")
        github.create_repository("ada/open", private=False, files={"a": "a"})
        github.create_repository("linus/own")
        read = dict.fromkeys(("contents", "email_addresses", "metadata"), "read")
        github.edit_app_permissions({"administration": "write", **read})
        github.request_installation("asked", by="linus")
        installed = {name: github.install(name) for name in ("acme", "guarded", "listed")}
        resting, left = github.install("resting"), github.install("left")
        self.tokens = {
            "the installation": github.token_for(installed["acme"]),
            "the leaving": github.token_for(installed["acme"]),
            "the blind": github.token_for(installed["acme"], permissions={"metadata": "read"}),
            "the suspended": github.token_for(resting),
            "the removed": github.token_for(left),
            "ada": github.user_token("ada"),
            "grace": github.user_token("grace"),
        }
        github.rename_repository("acme/former", "latter")
        github.set_policy("guarded", "saml")
        github.set_policy("listed", "ip allow list")
        github.suspend(resting)
        github.uninstall(left)
        github.app.conversion_code = "c0de"
        self.numbers: dict[str, int | str] = {
            "code": "c0de",
            "agents": github.repository_named("acme/agents").id,
            "delivery": github.deliveries[0].number,
            "installation": installed["acme"],
            "person": github.account_named("ada").id,
            "suspended": resting,
            **installed,
        }

    def ask(self, case: Case, caller: str = "") -> requests.Response:
        """Make the call; a token of nobody's when the caller is unknown."""
        headers = {}
        who = caller or case.caller
        if who == "the App":
            headers["Authorization"] = f"Bearer {self.app_token()}"
        elif who != "nobody":
            headers["Authorization"] = f"Bearer {self.tokens.get(who, 'ghs_unknown')}"
        path = case.path.format(**self.numbers)
        return requests.request(
            case.method,
            self.github.url + ROOT + path,
            headers=headers,
            json=case.body,
            allow_redirects=False,
            timeout=10,
        )

    def app_token(self) -> str:
        """The App's own."""
        now = int(self.github.clock())
        claims = {"iat": now - 60, "exp": now + 540, "iss": self.github.app.client_id}
        return jwt.encode(claims, self.github.app.private_key, "RS256")


@pytest.fixture
def world(github: GitHubEmulator) -> World:
    return World(github)


def faults(case: Case, answer: requests.Response) -> list[str]:
    """What GitHub's description has against an answer."""
    body: Any = answer.json() if answer.content else None
    return faults_of_answer(
        case.address.replace(*SIBLING),
        case.method,
        answer.status_code,
        body,
        any_error=answer.status_code in ANYWHERE,
    )


def verdicts(world: World, cases: list[Case]) -> list[tuple[str, int, list[str]]]:
    """Of those answered otherwise than expected or described: the case, its status, its faults."""
    asked = [(case, world.ask(case)) for case in cases]
    return [
        (str(case), answer.status_code, found)
        for case, answer in asked
        if (found := faults(case, answer)) or answer.status_code != case.status
    ]


def shape(address: str) -> str:
    """An address without the names of its parts."""
    return re.sub(r"\{[^}]*\}", "{}", address)


def test_every_success_is_as_github_describes_it(world: World) -> None:
    assert verdicts(world, SUCCESSES) == []


def test_every_refusal_is_as_github_describes_it(world: World) -> None:
    assert verdicts(world, REFUSALS) == []


@pytest.mark.parametrize("why", ["no such token", "dry", "primary", "secondary", "down"])
def test_what_any_call_may_be_answered_is_as_github_describes_it(world: World, why: str) -> None:
    github = world.github
    caller, status = {
        "no such token": ("a stranger", 401),
        "dry": ("the installation", 403),
        "primary": ("", 403),
        "secondary": ("", 429),
        "down": ("", 502),
    }[why]
    if why == "dry":
        github.budget.limit = 0
    elif why == "primary":
        github.limit_primary()
    elif why == "secondary":
        github.limit_secondary(status=429)
    elif why == "down":
        github.trouble(ROOT, status=502)
    for case in SUCCESSES:
        answer = world.ask(case, caller)
        always = why == "dry" and case.address == "/rate_limit"
        expected = case.status if always else status
        assert (str(case), answer.status_code, faults(case, answer)) == (str(case), expected, [])


def test_every_address_is_judged() -> None:
    served = {
        (method, shape(address.removeprefix(ROOT)))
        for method, address in ROUTES.served
        if address.startswith(ROOT)
    }
    assert {(case.method, shape(case.address)) for case in SUCCESSES} == served
    described = descriptions("rest")["answers"].keys()
    assert {case.address.replace(*SIBLING) for case in SUCCESSES} == described


def test_the_judge_finds_fault(world: World) -> None:
    case = next(case for case in SUCCESSES if case.address == REPOSITORY)
    body = world.ask(case).json()
    del body["default_branch"]
    body["owner"]["id"] = "1"
    body["invented"] = json.loads("null")
    assert faults_of_answer(REPOSITORY, "GET", 200, body) == [
        "$.owner.id: '1' is not of type 'integer'",
        "$: 'default_branch' is a required property",
        "$: Unevaluated properties are not allowed ('invented' was unexpected)",
    ]


def test_the_judge_knows_no_answers_of_our_own() -> None:
    unknown = [("/nowhere", "GET", 200), (REPOSITORY, "PUT", 200), (REPOSITORY, "GET", 418)]
    for address, method, status in unknown:
        with pytest.raises(Undescribed):
            faults_of_answer(address, method, status, {})
