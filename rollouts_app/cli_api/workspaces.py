"""The bearer's workspaces, and their first steps with `osmosis quickstart`."""

from django.http import HttpResponse, JsonResponse

from rollouts_app import checklist
from rollouts_app.api_keys import memberships_of
from rollouts_app.cli_api import shapes
from rollouts_app.cli_api.access import CliRequest, body_of, cli_door, text_in
from rollouts_app.cli_api.errors import CliError
from rollouts_app.cli_api.scope import connected_to
from rollouts_app.models import Membership

UNKNOWN = "You belong to no workspace with this organizationId."


@cli_door("GET", "HEAD")
def workspaces(request: CliRequest) -> JsonResponse:
    """All that the bearer belongs to, by name."""
    found = [
        shapes.listed_workspace_of(membership, connected_to(membership))
        for membership in memberships_of(request.key)
    ]
    return JsonResponse({"workspaces": found})


@cli_door("GET", "HEAD", "POST")
def quickstart(request: CliRequest) -> HttpResponse:
    """How far the first steps are; a POST says that they were gone through, and what for."""
    if request.method == "POST":
        return _completed(request)
    membership = _membership(request, request.GET.get("organizationId", ""))
    return JsonResponse(shapes.quickstart_of(membership, connected_to(membership)))


def _completed(request: CliRequest) -> JsonResponse:
    body = body_of(request)
    membership = _membership(request, text_in(body, "organizationId"))
    intent = text_in(body, "intent")
    if intent not in checklist.INTENTS:
        words = f"intent must be one of {', '.join(checklist.INTENTS)}."
        raise CliError(400, "VALIDATION", words)
    checklist.complete_quickstart(membership, intent)
    return JsonResponse({"completed": True, "intent": intent})


def _membership(request: CliRequest, workspace_id: str) -> Membership:
    if not workspace_id:
        raise CliError(400, "VALIDATION", "organizationId must name a workspace.")
    for membership in memberships_of(request.key):
        if str(membership.workspace_id) == workspace_id:
            return membership
    raise CliError(404, "NOT_FOUND", UNKNOWN)
