"""Every address, by everybody: nothing is open that is not listed here as open."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver

from rollouts_app.models import Membership, Repository, User, Workspace
from tests.github_emulator import GitHubEmulator

pytestmark = pytest.mark.django_db

PEOPLE = ("owner", "member", "stranger", "nobody")

# What a GET and a POST answer to owner, member, stranger and nobody. The method is judged before
# the workspace is looked for, and whether somebody is signed in before anything else.
PAGE = ("200 200 404 302", "405 405 405 302")
REDIRECT = ("302 302 404 302", "405 405 405 302")
ACTION = ("405 405 405 302", "302 302 404 302")
PAGE_AND_ACTION = ("200 200 404 302", "302 302 404 302")
MANAGERS_ACTION = ("405 405 405 302", "302 403 404 302")
OWNERS_PAGE = ("200 403 404 302", "405 405 405 302")
ADMINISTRATORS_PAGE = ("404 404 404 302", "405 405 405 302")
ADMINISTRATORS_ACTION = ("405 405 405 302", "404 404 404 302")
MANAGERS_PAGE_AND_ACTION = ("200 403 404 302", "302 403 404 302")
FORWARD = ("301 301 301 302", "301 301 301 302")
WS = "<slug:workspace>"

DOORS = {
    # Open to everybody.
    "": ("302 302 302 200", "405 405 405 405"),
    "healthz": ("200 200 200 200", "405 405 405 405"),
    # No worker runs, and the tests' settings have no METRICS_TOKEN.
    "readyz": ("503 503 503 503", "405 405 405 405"),
    "metrics": ("404 404 404 404", "405 405 405 405"),
    "theme": ("405 405 405 405", "302 302 302 302"),
    "webhooks/github": ("405 405 405 405", "401 401 401 401"),
    # Of the command line, which brings a token instead of a cookie: a browser is nobody there.
    # Its bodies are JSON, which forms are not.
    "api/cli/device/authorize": ("405 405 405 405", "400 400 400 400"),
    "api/cli/device/token": ("405 405 405 405", "400 400 400 400"),
    "api/cli/verify": ("401 401 401 401", "405 405 405 405"),
    "api/cli/tokens/<slug:token_id>": ("405 405 405 405", "405 405 405 405"),
    "api/cli/workspaces": ("401 401 401 401", "405 405 405 405"),
    "api/cli/quickstart": ("401 401 401 401", "401 401 401 401"),
    "api/cli/rollouts": ("401 401 401 401", "405 405 405 405"),
    "api/cli/<path:rest>": ("404 404 404 404", "404 404 404 404"),
    # The first run: nobody is an administrator here, and nobody has shown the token.
    "setup": ("200 200 200 200", "405 405 405 405"),
    "setup/begin": ("405 405 405 405", "422 422 422 422"),
    "setup/app": ("405 405 405 405", "302 302 302 302"),
    "setup/created": ("302 302 302 302", "405 405 405 405"),
    # A link that was never made.
    "login/<str:token>": ("410 410 410 410", "410 410 410 410"),
    "accounts/login/": ("302 302 302 200", "403 403 403 403"),
    "accounts/logout/": ("200 200 200 302", "302 302 302 302"),
    "accounts/inactive/": ("200 200 200 200", "405 405 405 405"),
    "accounts/github/login/": ("200 200 200 200", "302 302 302 302"),
    "accounts/github/login/callback/": ("401 401 401 401", "401 401 401 401"),
    "accounts/3rdparty/login/cancelled/": ("200 200 200 200", "405 405 405 405"),
    "accounts/3rdparty/signup/": ("302 302 302 302", "302 302 302 302"),
    # Of everybody who is signed in, about themselves.
    "accounts/social/login/cancelled/": FORWARD,
    "accounts/social/login/error/": FORWARD,
    "accounts/social/signup/": FORWARD,
    "accounts/social/connections/": FORWARD,
    "accounts/3rdparty/login/error/": ("401 401 401 302", "405 405 405 302"),
    "accounts/3rdparty/": ("200 200 200 302", "200 200 200 302"),
    "account": ("200 200 200 302", "405 405 405 302"),
    # The owner is needed; the others have not typed their login.
    "account/delete": ("200 200 200 302", "422 422 422 302"),
    "account/keys": ("200 200 200 302", "405 405 405 302"),
    # A key that is nobody's.
    "account/keys/<slug:key_id>/revoke": ("404 404 404 302", "302 302 302 302"),
    "device": ("200 200 200 302", "422 422 422 302"),
    "onboarding": ("200 200 200 302", "405 405 405 302"),
    "onboarding/workspace": ("405 405 405 302", "422 422 422 302"),
    # Whoever approved the App for somebody else needs no account here.
    "onboarding/installed": ("302 302 302 200", "405 405 405 405"),
    # Of the server's administrators, who have to be nobody in a workspace.
    "doctor": ADMINISTRATORS_PAGE,
    "server": ("404 404 404 302", "404 404 404 302"),
    "server/secret": ADMINISTRATORS_ACTION,
    "server/administrators": ADMINISTRATORS_ACTION,
    "server/administrators/remove": ADMINISTRATORS_ACTION,
    "server/audit": ADMINISTRATORS_PAGE,
    "invitations": ("200 200 200 302", "405 405 405 302"),
    # A token that nobody was given, an invitation that is nobody's.
    "invitations/<str:token>": ("404 404 404 404", "404 404 404 404"),
    "invitations/<int:invitation_id>/accept": ("405 405 405 302", "404 404 404 302"),
    # Of a workspace that is not open to others; owner and member are in it already.
    "join/<int:workspace_id>": ("405 405 405 302", "302 302 302 302"),
    # Of a workspace.
    WS: REDIRECT,
    f"{WS}/rollouts": PAGE,
    f"{WS}/rollouts/<str:name>": PAGE,
    f"{WS}/branches": PAGE,
    f"{WS}/compare": PAGE,
    f"{WS}/sync-status": REDIRECT,
    f"{WS}/new-rollout": PAGE,
    f"{WS}/audit": OWNERS_PAGE,
    f"{WS}/integrations/git": PAGE,
    f"{WS}/integrations/git/syncs": PAGE,
    f"{WS}/integrations/git/syncs/<int:run_id>": PAGE,
    f"{WS}/integrations/git/syncs/<int:run_id>/retry": ACTION,
    f"{WS}/integrations/git/syncs/<int:run_id>/cancel": PAGE_AND_ACTION,
    f"{WS}/integrations/git/deliveries": PAGE,
    f"{WS}/integrations/git/permissions": PAGE,
    f"{WS}/integrations/git/sync-now": ACTION,
    f"{WS}/integrations/git/installation": MANAGERS_ACTION,
    f"{WS}/integrations/git/repository": MANAGERS_ACTION,
    f"{WS}/integrations/git/new-repository": MANAGERS_ACTION,
    f"{WS}/integrations/git/request": MANAGERS_ACTION,
    f"{WS}/integrations/git/request/drop": MANAGERS_ACTION,
    f"{WS}/setup-steps": ACTION,
    f"{WS}/integrations/git/repositories/<int:repository_id>/disconnect": (
        "200 403 404 302",
        "422 403 404 302",
    ),
    f"{WS}/integrations/git/repositories/<int:repository_id>/deactivate": MANAGERS_PAGE_AND_ACTION,
    # The repository is connected: nothing is kept of it.
    f"{WS}/integrations/git/repositories/<int:repository_id>/delete": (
        "404 403 404 302",
        "302 403 404 302",
    ),
    f"{WS}/integrations/git/repositories/<int:repository_id>/reconnect": MANAGERS_ACTION,
    f"{WS}/members": PAGE,
    f"{WS}/members/invite": ("200 403 404 302", "422 403 404 302"),
    f"{WS}/members/invitations/<int:invitation_id>/resend": MANAGERS_ACTION,
    f"{WS}/members/invitations/<int:invitation_id>/revoke": (
        "404 403 404 302",
        "302 403 404 302",
    ),
    f"{WS}/members/<int:membership_id>/role": MANAGERS_ACTION,
    f"{WS}/members/<int:membership_id>/owner": MANAGERS_PAGE_AND_ACTION,
    f"{WS}/members/<int:membership_id>/hand-over": MANAGERS_PAGE_AND_ACTION,
    f"{WS}/members/<int:membership_id>/remove": MANAGERS_PAGE_AND_ACTION,
    f"{WS}/api-keys": PAGE,
    f"{WS}/api-keys/new": ("200 200 404 302", "422 422 404 302"),
    f"{WS}/api-keys/<slug:key_id>/revoke": ("404 404 404 302", "302 302 404 302"),
    f"{WS}/benchmarks": PAGE,
    f"{WS}/leave": PAGE_AND_ACTION,
    f"{WS}/settings": ("200 200 404 302", "422 403 404 302"),
    f"{WS}/settings/access": ("405 405 405 302", "302 403 404 302"),
    f"{WS}/delete": ("200 403 404 302", "422 403 404 302"),
}
# What takes no form at all, and is answered before anything is looked at.
PROBES = {"healthz", "readyz", "metrics"}
OURS = [route for route in DOORS if not route.startswith(("accounts/", "setup"))]
OURS_OF_A_WORKSPACE = [route for route in OURS if route.startswith(WS)]


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """Every address of the URL table, as it is written there."""
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, route)
        else:
            yield route


@pytest.fixture
def people(ada: User, linus: User, mallory: User) -> dict[str, User | None]:
    return {"owner": ada, "member": linus, "stranger": mallory, "nobody": None}


def browser_of(person: User | None, **options: bool) -> Client:
    client = Client(**options)  # type: ignore[arg-type]
    if person:
        client.force_login(person)
    return client


def newcomer_in(workspace: Workspace) -> Membership:
    """Somebody besides the cast, for whatever is done to members."""
    user, _ = User.objects.get_or_create(username="grace", github_login="grace")
    return workspace.memberships.get_or_create(user=user, role="member")[0]


def path_of(route: str, repository: Repository) -> str:
    """An address of the table, with the values of things that exist."""
    values = {
        "workspace": repository.workspace.slug,
        "name": "maths",
        "repository_id": str(repository.pk),
        "run_id": str(repository.sync_runs.get().pk),
        "membership_id": str(newcomer_in(repository.workspace).pk),
        "invitation_id": "1",
        "workspace_id": str(repository.workspace_id),
        "token": "nonsense",
        "token_id": "nonsense",
        "key_id": "nonsense",
        "rest": "datasets",
    }
    return "/" + re.sub(r"<\w+:(\w+)>", lambda part: values[part[1]], route)


def test_it_knows_every_address() -> None:
    assert sorted(routes(get_resolver())) == sorted(DOORS)


def test_it_opens_each_door_to_those_it_is_for(
    synced: Repository, people: dict[str, User | None]
) -> None:
    answers = {
        route: tuple(
            " ".join(answer_to(route, method, synced, people[name]) for name in PEOPLE)
            for method in ("get", "post")
        )
        for route in DOORS
    }
    assert answers == DOORS


def answer_to(route: str, method: str, repository: Repository, person: User | None) -> str:
    """The status of an answer, and nothing else of it is left."""
    with undone():
        client = browser_of(person)
        return str(getattr(client, method)(path_of(route, repository)).status_code)


@contextmanager
def undone() -> Iterator[None]:
    """What happens in it has not happened for the database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_it_leads_nobody_to_the_login_and_back(synced: Repository) -> None:
    closed = [route for route in OURS if "302" in DOORS[route][0].split()[3]]
    paths = [path_of(route, synced) for route in closed]
    for method in ("get", "post"):
        led = [getattr(Client(), method)(path).headers["Location"] for path in paths]
        assert led == [f"/accounts/login/?next={path}" for path in paths]


def test_a_part_leads_the_whole_page_to_the_login(synced: Repository) -> None:
    """U01"""
    page = "http://testserver/acme/rollouts?branch=feature%2Fx"
    for route in OURS_OF_A_WORKSPACE:
        answer = Client().get(
            path_of(route, synced), headers={"HX-Request": "true", "HX-Current-URL": page}
        )
        assert (route, answer.status_code, answer.content) == (route, 200, b"")
        assert answer.headers["HX-Redirect"] == (
            "/accounts/login/?next=%2Facme%2Frollouts%3Fbranch%3Dfeature%252Fx"
        )


def test_a_part_leads_back_to_no_other_site(synced: Repository) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.example/x"}
    answer = Client().get("/acme/rollouts", headers=headers)
    assert answer.headers["HX-Redirect"] == "/accounts/login/?next=%2F"


def test_it_takes_no_form_of_another_site_but_for_machines(synced: Repository, ada: User) -> None:
    client = browser_of(ada, enforce_csrf_checks=True)
    answers = {route: client.post(path_of(route, synced)).status_code for route in DOORS}
    expected = dict.fromkeys(DOORS, 403) | dict.fromkeys(PROBES, 405)
    expected |= {route: int(DOORS[route][1].split()[0]) for route in DOORS if is_machines(route)}
    assert answers == expected


def is_machines(route: str) -> bool:
    """Whether machines call there, who bring no cookies."""
    return route.startswith(("webhooks/", "api/"))


def test_it_does_not_tell_strangers_which_workspaces_exist(
    synced: Repository, mallory: User
) -> None:
    client = browser_of(mallory)
    for route in OURS_OF_A_WORKSPACE:
        path = path_of(route, synced)
        other = path.replace("/acme", "/nowhere", 1)
        for method in ("get", "post"):
            here, there = getattr(client, method)(path), getattr(client, method)(other)
            assert (route, here.status_code) == (route, there.status_code)
            assert without_tokens(here.content) == without_tokens(there.content)


def without_tokens(content: bytes) -> bytes:
    """A page without what differs from request to request, and the address it repeats."""
    content = re.sub(rb'name="csrfmiddlewaretoken" value="\w+"', b"", content)
    return re.sub(rb'name="next" value="[^"]*"', b"", content)


def test_access_ends_with_the_membership(
    ada: User, acme: Workspace, github: GitHubEmulator
) -> None:
    client = browser_of(ada)
    assert client.get("/acme/integrations/git").status_code == 200
    acme.memberships.filter(user=ada).delete()
    assert client.get("/acme/integrations/git").status_code == 404
