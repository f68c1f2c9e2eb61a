"""Signing in and out: device codes, who the bearer is, revoking."""

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse

from rollouts_app import api_keys, checklist, device_login
from rollouts_app.cli_api import shapes
from rollouts_app.cli_api.access import CliRequest, body_of, cli_door, open_door, text_in
from rollouts_app.cli_api.errors import CliError
from rollouts_app.cli_api.hints import with_hint
from rollouts_app.cli_api.scope import Scope, scope_of
from rollouts_app.models import CliToken
from rollouts_app.models.tokens import GRANT_LASTS


@open_door("POST")
def device_authorize(request: HttpRequest) -> JsonResponse:
    """A device asks to be let in: the codes for it and for the person beside it."""
    name = text_in(body_of(request), "deviceName", is_needed=False)
    program = request.headers.get("User-Agent", "")
    grant, device_code = device_login.request(name, program, _address_of(request))
    seconds = int(GRANT_LASTS.total_seconds())
    return JsonResponse(shapes.grant_of(grant, device_code, seconds))


@open_door("POST")
def device_token(request: HttpRequest) -> JsonResponse:
    """A device asks whether it was let in. By RFC 8628 all that is no yes is a 400."""
    try:
        key, token = device_login.exchange(text_in(body_of(request), "device_code"))
    except device_login.Refused as refusal:
        code = refusal.error.upper()
        raise CliError(400, code, str(refusal), error=refusal.error) from refusal
    return JsonResponse(shapes.login_of(key, token))


@cli_door("GET", "HEAD")
def verify(request: CliRequest) -> JsonResponse:
    """Who the bearer is, and which of their workspaces the clone belongs to, if any."""
    scope = _scope_or_none(request)
    if scope:
        # Whoever gets here in a clone has all that the last steps ask for.
        checklist.note(scope.membership, checklist.CLI, checklist.VERIFY)
    workspace = shapes.workspace_of(scope.membership) if scope else None
    answer = {**shapes.session_of(request.key), "workspace": workspace}
    return with_hint(JsonResponse(answer), scope)


@cli_door("DELETE")
def token_revoke(request: CliRequest, token_id: str) -> JsonResponse:
    """Sign out. A sign-in may end the bearer's other tokens, too; a key only itself."""
    key, found = request.key, request.key
    if token_id != key.public_id:
        own = api_keys.own_keys(key.user) if key.is_login else CliToken.objects.none()
        other = own.filter(public_id=token_id).first()
        if other is None:
            raise CliError(404, "NOT_FOUND", "You have no such token, or it was revoked.")
        found = other
    api_keys.revoke(key.user, found)
    return JsonResponse({"revoked": True, "token_id": found.public_id})


def _scope_or_none(request: CliRequest) -> Scope | None:
    """The workspace; none where there is none for this bearer: who they are is told anyhow."""
    try:
        return scope_of(request)
    except CliError as problem:
        if problem.status == 403:
            return None
        raise


def _address_of(request: HttpRequest) -> str | None:
    try:
        address: str = get_adapter().get_client_ip(request)
    except PermissionDenied:
        return None
    return address
