"""API keys: those of a workspace, and all of one's own with the devices that are signed in."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import resolve_url
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_safe

from rollouts_app import api_keys
from rollouts_app.forms import ApiKeyForm
from rollouts_app.models import CliToken
from rollouts_app.models.tokens import CliTokenQuerySet
from rollouts_app.onboarding import cli_address
from rollouts_app.refusals import NotAllowed, NotPossible
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, people_page
from rollouts_app.views.asked import text_asked
from rollouts_app.views.browsers import browser_named
from rollouts_app.views.confirming import Question, ask, go, nothing_to_do
from rollouts_app.views.fragments import page, part_asked

# Where htmx puts an answer → the part that belongs there.
PARTS = {"api-key-form": "form"}
GONE = "That key was revoked in the meantime."


@require_safe
@people_page
def api_key_list(request: WorkspaceRequest) -> HttpResponse:
    """The keys of this workspace; a new one can be read here once."""
    keys = api_keys.keys_of(request.membership).select_related("user").order_by("-pk")
    context = {"keys": list(keys), "now": now(), **_made(request, keys)}
    return page(request, "api_keys/list.html", context, "keys")


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def api_key_new(request: WorkspaceRequest) -> HttpResponse:
    """The form, and what becomes of it."""
    form = ApiKeyForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            key = _make(request, form)
        except NotPossible as problem:
            form.add_error(None, str(problem))
        else:
            return go(request, f"{_home(request)}?made={key.public_id}")
    status = 422 if form.is_bound else 200
    part = part_asked(request, PARTS, "dialog")
    return page(request, "api_keys/new.html", {"form": form}, part, status)


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def api_key_revoke(request: WorkspaceRequest, key_id: str) -> HttpResponse:
    """Ask, then end a key of this workspace."""
    keys = CliToken.objects.of_members(request.workspace).kept().select_related("user", "workspace")
    key = keys.filter(public_id=key_id).first()
    if key and key.user_id != request.user.pk and not request.membership.may_invite:
        raise PermissionDenied("Owners and admins revoke the keys of others.")
    return _revoke(request, key, _home(request), tab="settings")


@require_safe
def own_key_list(request: PersonRequest) -> HttpResponse:
    """All of one's own: the devices that are signed in, and the keys of workspaces."""
    keys = list(api_keys.own_keys(request.user).select_related("workspace").order_by("-pk"))
    context = {
        "logins": [key for key in keys if key.is_login],
        "keys": [key for key in keys if not key.is_login],
        "memberships": request.user.memberships.select_related("workspace").order_by("pk"),
        "cli_address": cli_address(settings.PUBLIC_URL),
    }
    return page(request, "api_keys/own.html", context, "keys")


@require_http_methods(["GET", "HEAD", "POST"])
def own_key_revoke(request: PersonRequest, key_id: str) -> HttpResponse:
    """Ask, then sign a device out, or end a key of one's own."""
    keys = api_keys.own_keys(request.user).select_related("user", "workspace")
    key = keys.filter(public_id=key_id).first()
    return _revoke(request, key, resolve_url("own-key-list"))


def _revoke(request: PersonRequest, key: CliToken | None, back: str, tab: str = "") -> HttpResponse:
    if key is None:
        return nothing_to_do(request, GONE, back)
    what = "Sign out" if key.is_login else "Revoke"
    whose = "" if key.user_id == request.user.pk else f" of {key.user.display_name}"
    question = Question(
        heading=f"{what} {key.name}",
        text=f"The {'sign-in' if key.is_login else 'key'} {key.hint}…{whose} ends at once, for "
        "good: whatever uses it is refused from then on.",
        button=what,
        icon="sign-out" if key.is_login else "trash",
        back=back,
        tab=tab,
    )
    if not question.is_answered(request):
        return ask(request, question)
    try:
        api_keys.revoke(request.user, key)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    messages.success(request, f"{key.name} was {'signed out' if key.is_login else 'revoked'}.")
    return go(request, back)


def _make(request: WorkspaceRequest, form: ApiKeyForm) -> CliToken:
    values = form.cleaned_data
    number: UUID | None = values["request"]
    device = browser_named(request.headers.get("User-Agent", ""))
    own = request.membership
    own.user = request.user
    return api_keys.make_key(own, values["name"], int(values["days"]), device, number)


def _made(request: WorkspaceRequest, keys: CliTokenQuerySet) -> dict[str, object]:
    """The key just made, and how to use it: once, for whoever made it."""
    asked = text_asked(request, "made")
    key = keys.filter(public_id=asked, user=request.user).first() if asked else None
    token = api_keys.read_once(request.user, key) if key else ""
    if not token:
        return {}
    lines = [
        cli_address(settings.PUBLIC_URL),
        f"export OSMOSIS_TOKEN={token}",
        f"export OSMOSIS_TOKEN_PLATFORM_URL={settings.PUBLIC_URL}",
    ]
    return {"made": key, "token": token, "lines": "\n".join(lines)}


def _home(request: WorkspaceRequest) -> str:
    return resolve_url("api-key-list", request.workspace.slug)
