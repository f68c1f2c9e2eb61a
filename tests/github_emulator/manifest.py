"""Registering the App from a manifest: the page that asks, and the exchange of the code.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import json
import re
import secrets

from . import access_form, pages
from .credentials import Refused
from .markup import button, element, hidden, void
from .records import Account
from .rest import Call, api
from .shapes import Json
from .state import new_app
from .web import Answer, Request, Routes, json_answer, redirect, with_query

ROUTES = Routes()
LONGEST_NAME = 34
REGISTER = "/settings/apps/manifest"


@ROUTES.add("POST", "/settings/apps/new")
@ROUTES.add("POST", "/organizations/{owner}/settings/apps/new")
def ask(request: Request, owner: str = "") -> Answer:
    """Show what the manifest asks for, and let its name be changed."""
    manifest = _manifest(request)
    if manifest is None:
        return pages.refuse(request, 400, "The manifest is no good", "It lacks url or hook url.")
    fields = {"manifest": request.fields["manifest"], "state": request.query.get("state", "")}
    state = request.world.state
    person = pages.person_of(request) or state.account(request.fields.get("user", ""))
    if person is None:
        people = [account for account in state.accounts.values() if account.type == "User"]
        here = with_query(request.path, request.query)
        return pages.show(
            request,
            "Sign in",
            element("h1", "Sign in to create the App"),
            pages.person_buttons(people, here, {"manifest": request.fields["manifest"]}),
            narrow=True,
        )
    account = state.account(owner) if owner else person
    if account is None or not request.world.may_administer(person, account):
        return pages.nothing_here(request, f"You own no organization called {owner}.")
    answer = pages.show(
        request,
        "Create GitHub App",
        element("h1", f"Create GitHub App for {account.login}"),
        access_form.permissions(manifest.get("default_permissions", {})),
        element(
            "form",
            *(hidden(name, value) for name, value in fields.items()),
            hidden("owner", account.login),
            element(
                "label",
                "GitHub App name ",
                void("input", name="name", value=str(manifest.get("name", ""))),
            ),
            button(f"Create GitHub App for {account.login}", class_="go"),
            method="post",
            action=REGISTER,
        ),
        narrow=True,
    )
    answer.headers["Set-Cookie"] = pages.remember(person)
    return answer


@ROUTES.add("POST", REGISTER)
def register(request: Request) -> Answer:
    """Make the App, and go back with a code that its credentials are had for, once."""
    manifest, person = _manifest(request), pages.person_of(request)
    owner = request.world.state.account(request.fields.get("owner", ""))
    if manifest is None or person is None or owner is None:
        return pages.nothing_here(request, "Begin at the server's own page.")
    name = request.fields.get("name", "").strip()
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug or len(name) > LONGEST_NAME or request.world.state.account(slug):
        return pages.refuse(request, 422, "This name cannot be had", "Choose another name.")
    code = _replace_app(request, manifest, name, slug, owner)
    state = {"state": request.fields["state"]} if request.fields.get("state") else {}
    return redirect(with_query(manifest["redirect_url"], {"code": code, **state}))


@api(ROUTES, "POST", "/app-manifests/{code}/conversions")
def convert(call: Call, code: str) -> Answer:
    """https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest"""
    with call.world.changing() as state:
        app = state.app
        if not app.conversion_code or not secrets.compare_digest(app.conversion_code, code):
            raise Refused(404, "Not Found")
        app.conversion_code = None
    whole: Json = {
        **call.shapes.app(),
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "webhook_secret": app.webhook_secret if app.webhook_url else None,
        "pem": app.private_key,
    }
    return json_answer(whole, 201)


def _manifest(request: Request) -> Json | None:
    """The manifest of the form, with all that GitHub insists on."""
    try:
        manifest = json.loads(request.fields.get("manifest", ""))
        hook = manifest.get("hook_attributes", {})
        is_whole = manifest["url"] and manifest["redirect_url"] and (not hook or hook["url"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if is_whole else None


def _replace_app(request: Request, manifest: Json, name: str, slug: str, owner: Account) -> str:
    """Let the emulator's one App be this one, with credentials of its own; the code."""
    world = request.world
    hook = manifest.get("hook_attributes", {})
    with world.changing() as state:
        app = new_app(world.clock())
        app.name, app.slug, app.owner_id = name, slug, owner.id
        app.webhook_url = hook.get("url") if hook.get("active", True) else None
        app.callback_urls = manifest.get("callback_urls", [])
        app.setup_url = manifest.get("setup_url")
        app.permissions = manifest.get("default_permissions", {})
        app.events = manifest.get("default_events", [])
        app.conversion_code = secrets.token_hex(20)
        state.app = app
    return app.conversion_code
