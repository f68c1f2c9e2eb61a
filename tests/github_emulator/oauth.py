"""Sign-in with the App: the page that asks, and the exchange of codes and tokens.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
/generating-a-user-access-token-for-a-github-app
"""

import base64
import hashlib
import secrets
from urllib.parse import urlencode, urlsplit

from . import pages
from .markup import element, link
from .records import Grant
from .settings import World
from .tokens import REFRESH_TOKEN_SECONDS, USER_TOKEN_SECONDS
from .web import Answer, Request, Routes, json_answer, redirect, with_query

ROUTES = Routes()
CODE_SECONDS = 600
ERRORS = {
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "bad_verification_code": "The code passed is incorrect or expired.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL for this "
    "application.",
    "bad_refresh_token": "The refresh token passed is incorrect or expired.",
    "unsupported_grant_type": "The grant type is not supported.",
}


@ROUTES.add("GET", "/login/oauth/authorize")
def authorize(request: Request) -> Answer:
    """Ask who signs in."""
    query, app = request.query, request.world.app
    problem = _problem(request, query)
    if problem:
        return problem
    state = request.world.state
    people = [account for account in state.accounts.values() if account.type == "User"]
    back = _redirect_uri(request.world, query)
    denied = {"error": "access_denied", "error_description": "The user has denied your access"}
    cancel = with_query(back, {**denied, **_state(query)})
    return pages.show(
        request,
        f"Sign in to {app.name}",
        element("h1", f"Sign in to {app.name}", class_="centre"),
        element("p", pages.LABEL, class_="note centre"),
        pages.person_buttons(people, "/login/oauth/authorize", query)
        if people
        else element("p", "There are no people in this emulator yet."),
        element("p", f"{app.name} will learn who you are. You go back to ", element("code", back)),
        element("p", link("Cancel", cancel)),
        narrow=True,
    )


@ROUTES.add("POST", "/login/oauth/authorize")
def authorized(request: Request) -> Answer:
    """Somebody was chosen: go back with a code."""
    fields, world = request.fields, request.world
    problem = _problem(request, fields)
    if problem:
        return problem
    person = world.account_named(fields.get("user", ""))
    grant = Grant(
        code=secrets.token_hex(10),
        user_id=person.id,
        redirect_uri=_redirect_uri(world, fields),
        challenge=fields.get("code_challenge"),
        expires_at=world.clock() + CODE_SECONDS,
    )
    with world.changing() as state:
        state.grants[grant.code] = grant
    back = with_query(grant.redirect_uri, {"code": grant.code, **_state(fields)})
    return redirect(back, pages.remember(person))


@ROUTES.add("POST", "/login/oauth/access_token")
def access_token(request: Request) -> Answer:
    """Exchange a code, or a refresh token, for tokens. Errors come with 200, as at GitHub."""
    fields = {**request.query, **request.fields}
    app = request.world.app
    with request.world.changing():
        if (fields.get("client_id"), fields.get("client_secret")) != (
            app.client_id,
            app.client_secret,
        ):
            return _answer(request, _error("incorrect_client_credentials"))
        grant_type = fields.get("grant_type", "authorization_code")
        if grant_type == "refresh_token":
            return _answer(request, _refreshed(request.world, fields))
        if grant_type != "authorization_code":
            return _answer(request, _error("unsupported_grant_type"))
        return _answer(request, _exchanged(request.world, fields))


def _problem(request: Request, fields: dict[str, str]) -> Answer | None:
    """The page that says why nobody can sign in this way, or None."""
    app = request.world.app
    if fields.get("client_id") != app.client_id:
        return pages.nothing_here(request, "No App has this client_id.")
    if not app.callback_urls:
        return pages.refuse(
            request, 400, "No callback URL", element("p", f"{app.name} has no callback URL.")
        )
    if not _is_allowed(request.world, _redirect_uri(request.world, fields)):
        return pages.refuse(
            request,
            400,
            "Be careful!",
            element("p", "The redirect_uri is not associated with this application."),
            element("p", "It has to start with: ", element("code", ", ".join(app.callback_urls))),
        )
    if fields.get("code_challenge") and fields.get("code_challenge_method") != "S256":
        words = "The code_challenge_method has to be S256."
        return pages.refuse(request, 400, "Bad request", element("p", words))
    return None


def _redirect_uri(world: World, fields: dict[str, str]) -> str:
    return fields.get("redirect_uri") or world.app.callback_urls[0]


def _is_allowed(world: World, address: str) -> bool:
    """Same scheme, host and port as a callback URL, and its path or one below."""
    asked = urlsplit(address)
    for callback in map(urlsplit, world.app.callback_urls):
        folder = callback.path.rstrip("/") + "/"
        same_place = (asked.scheme, asked.netloc) == (callback.scheme, callback.netloc)
        if same_place and (asked.path == callback.path or asked.path.startswith(folder)):
            return True
    return False


def _state(fields: dict[str, str]) -> dict[str, str]:
    return {"state": fields["state"]} if "state" in fields else {}


def _exchanged(world: World, fields: dict[str, str]) -> dict[str, str | int]:
    """What a code gives. It is used up by the attempt."""
    grant = world.state.grants.pop(fields.get("code", ""), None)
    if grant is None or grant.expires_at <= world.clock() or not _proves(grant, fields):
        return _error("bad_verification_code")
    if fields.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
        return _error("redirect_uri_mismatch")
    return _tokens(world, world.state.accounts[grant.user_id].login)


def _refreshed(world: World, fields: dict[str, str]) -> dict[str, str | int]:
    """What a refresh token gives. It is used up, too."""
    token = world.state.tokens.pop(fields.get("refresh_token", ""), None)
    if token is None or token.kind != "refresh" or token.expires_at <= world.clock():
        return _error("bad_refresh_token")
    return _tokens(world, world.state.accounts[token.subject].login)


def _proves(grant: Grant, fields: dict[str, str]) -> bool:
    """PKCE: the verifier's hash is the challenge the code was asked with."""
    if not grant.challenge:
        return True
    digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return secrets.compare_digest(challenge, grant.challenge.rstrip("="))


def _tokens(world: World, login: str) -> dict[str, str | int]:
    return {
        "access_token": world.user_token(login),
        "expires_in": USER_TOKEN_SECONDS,
        "refresh_token": world.refresh_token(login),
        "refresh_token_expires_in": REFRESH_TOKEN_SECONDS,
        "scope": "",
        "token_type": "bearer",
    }


def _error(name: str) -> dict[str, str | int]:
    page = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token"
    uri = f"{page}-request-errors/#{name.replace('_', '-')}"
    return {"error": name, "error_description": ERRORS[name], "error_uri": uri}


def _answer(request: Request, body: dict[str, str | int]) -> Answer:
    """As JSON when that is accepted, else as a form, which is GitHub's default."""
    if "application/json" in request.headers.get("Accept", ""):
        return json_answer(body)
    kind = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    return Answer(200, urlencode(body).encode(), kind)
