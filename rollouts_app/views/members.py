"""The members of a workspace: who, as what, since when; roles, hand over, remove, leave."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import resolve_url
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from rollouts_app import memberships
from rollouts_app.invitations import link_of
from rollouts_app.models import Invitation, Membership
from rollouts_app.refusals import NotAllowed, NotPossible
from rollouts_app.views.access import WorkspaceRequest, people_page
from rollouts_app.views.confirming import Question, ask, go, nothing_to_do
from rollouts_app.views.fragments import page

Role = Membership.Role
GONE = "That person does not belong to this workspace any more."


@require_safe
@people_page
def member_list(request: WorkspaceRequest) -> HttpResponse:
    """Everybody, and for owners and admins the invitations that are waiting."""
    own = request.membership
    people = list(request.workspace.memberships.by_role().select_related("user"))
    context: dict[str, Any] = {
        "rows": [(each, own.may_change(each)) for each in people],
        "kept_out": _kept_out(request, people),
    }
    if own.may_invite:
        pending = request.workspace.invitations.pending().select_related("invited_by")
        invitations = list(pending.order_by("-pk"))
        context["pending"] = [(each, each.role in own.roles_to_give) for each in invitations]
        context |= _issued(request, invitations)
    return page(request, "members/list.html", context, "members")


@require_POST
@people_page
def member_role(request: WorkspaceRequest, membership_id: int) -> HttpResponse:
    """Make somebody an admin or a member. Making an owner has an address that asks first."""
    other = _changeable(request, membership_id)
    role = request.POST.get("role", "")
    if other is None or role not in {Role.ADMIN, Role.MEMBER}:
        reason = GONE if other is None else "Choose one of the roles listed."
        return nothing_to_do(request, reason, _home(request))
    return _do(
        request,
        lambda: memberships.change_role(request.user, request.workspace, membership_id, role),
        f"{other.user.display_name} is {'an admin' if role == Role.ADMIN else 'a member'} now.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def member_make_owner(request: WorkspaceRequest, membership_id: int) -> HttpResponse:
    """Ask, then make somebody an owner beside the others."""
    other = _changeable(request, membership_id, by_owner=True)
    if other is None:
        return nothing_to_do(request, GONE, _home(request))
    name = other.user.display_name
    question = Question(
        heading=f"Make {name} an owner",
        text=f"{name} may then do everything here: change all roles, yours included, and delete "
        f"{request.workspace}.",
        button="Make owner",
        icon="shield-lock",
        back=_home(request),
        tab="members",
        is_danger=False,
    )
    if not question.is_answered(request):
        return ask(request, question)
    return _do(
        request,
        lambda: memberships.change_role(request.user, request.workspace, membership_id, Role.OWNER),
        f"{name} is an owner now.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def member_hand_over(request: WorkspaceRequest, membership_id: int) -> HttpResponse:
    """Ask, then make somebody else an owner and oneself an admin."""
    other = _changeable(request, membership_id, by_owner=True)
    if other is None:
        return nothing_to_do(request, GONE, _home(request))
    name = other.user.display_name
    question = Question(
        heading=f"Hand over to {name}",
        text=f"{name} becomes an owner of {request.workspace}, and you become an admin. "
        "Only an owner can make you one again.",
        button="Hand over ownership",
        icon="shield-lock",
        back=_home(request),
        tab="members",
    )
    if not question.is_answered(request):
        return ask(request, question)
    return _do(
        request,
        lambda: memberships.hand_over(request.user, request.workspace, membership_id),
        f"{name} is an owner now, and you are an admin.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def member_remove(request: WorkspaceRequest, membership_id: int) -> HttpResponse:
    """Ask, then end somebody's membership."""
    other = _changeable(request, membership_id)
    if other is None:
        return nothing_to_do(request, GONE, _home(request))
    name = other.user.display_name
    question = Question(
        heading=f"Remove {name}",
        text=f"{name} loses all access to {request.workspace} at once. What they have on GitHub "
        "does not change. An invitation brings them back.",
        button=f"Remove {name}",
        icon="trash",
        back=_home(request),
        tab="members",
    )
    if not question.is_answered(request):
        return ask(request, question)
    return _do(
        request,
        lambda: memberships.remove(request.user, request.workspace, membership_id),
        f"{name} was removed and has no access any more.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def leave(request: WorkspaceRequest) -> HttpResponse:
    """Ask, then end one's own membership. The last owner is told what to do first."""
    own, workspace = request.membership, request.workspace
    is_needed = own.is_owner and not memberships.others_own(own)
    question = Question(
        heading=f"Leave {workspace}",
        text="You lose all access to it at once. An invitation brings you back.",
        button=f"Leave {workspace}",
        icon="sign-out",
        back=_home(request),
        tab="members",
        refusal=memberships.LAST_OWNER.format(workspace=workspace) if is_needed else "",
    )
    if not question.is_answered(request):
        return ask(request, question)
    try:
        memberships.leave(request.user, workspace)
    except NotPossible as problem:
        messages.error(request, str(problem))
        return go(request, _home(request))
    except NotAllowed as refusal:
        raise Http404 from refusal
    request.session.pop("last_workspace", None)
    messages.success(request, f"You left {workspace}.")
    return go(request, resolve_url("landing"))


def _changeable(
    request: WorkspaceRequest, membership_id: int, *, by_owner: bool = False
) -> Membership | None:
    """Somebody whom the caller may change, or None when they are gone. Raises PermissionDenied."""
    own = request.membership
    if not (own.is_owner if by_owner else own.may_invite):
        who = "Owners decide who is one." if by_owner else "Owners and admins manage the members."
        raise PermissionDenied(who)
    people = request.workspace.memberships.select_related("user")
    other = people.filter(pk=membership_id).first()
    if other and not own.may_change(other):
        raise PermissionDenied("Only owners change or remove an owner, and nobody does themselves.")
    return other


def _do(request: WorkspaceRequest, deed: Callable[[], object], news: str) -> HttpResponse:
    """Do it and say so; or say why not, where things have changed since the page was made."""
    try:
        deed()
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    except NotPossible as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, news)
    return go(request, _home(request))


def _kept_out(request: WorkspaceRequest, people: list[Membership]) -> list[int]:
    """Those of whom GitHub said last that they may not read the workspace's private repository."""
    workspace = request.workspace
    repository = workspace.repository if workspace.needs_read_access else None
    if repository is None or not repository.is_private:
        return []
    return [each.pk for each in people if each.can_read(repository) is False]


def _issued(request: WorkspaceRequest, pending: list[Invitation]) -> dict[str, Any]:
    """The invitation just made, and its link while it can still be read."""
    asked = request.GET.get("issued", "")
    issued = next((each for each in pending if str(each.pk) == asked), None)
    link = link_of(request.user, issued) if issued else ""
    return {"issued": issued, "link": link} if link else {}


def _home(request: WorkspaceRequest) -> str:
    return resolve_url("member-list", request.workspace.slug)
