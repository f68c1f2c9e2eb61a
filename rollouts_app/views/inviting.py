"""Invitations from the side of those who send them: invite, send again, revoke."""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from rollouts_app import invitations as flow
from rollouts_app.errors import GitHubError
from rollouts_app.forms import InviteForm
from rollouts_app.models import Invitation
from rollouts_app.refusals import NotAllowed, NotPossible, SignInAgain
from rollouts_app.views.access import WorkspaceRequest, people_page
from rollouts_app.views.confirming import Question, ask, go, nothing_to_do
from rollouts_app.views.fragments import page, part_asked

# Where htmx puts an answer → the part that belongs there.
PARTS = {"invite-form": "form"}
CANNOT_ASK = (
    "GitHub has to be asked who that is, in your own name, and what it allows ends an hour after "
    "you sign in. Sign out and in again, or create a link instead."
)


GONE = "That invitation was accepted or revoked in the meantime."


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def invite(request: WorkspaceRequest) -> HttpResponse:
    """The form, and what becomes of it."""
    if not request.membership.may_invite:
        raise PermissionDenied("Owners and admins invite people to this workspace.")
    form = InviteForm(request.POST if request.method == "POST" else None, request.membership)
    if not form.is_valid():
        return _form(request, form)
    try:
        by_logins = form.cleaned_data["how"] == "logins"
        return _invite_logins(request, form) if by_logins else _invite(request, form)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    except (NotPossible, GitHubError) as problem:
        form.add_error(None, str(problem))
    except SignInAgain:
        form.add_error(None, CANNOT_ASK)
    return _form(request, form)


@require_POST
@people_page
def invitation_resend(request: WorkspaceRequest, invitation_id: int) -> HttpResponse:
    """A new link in place of the old one; by e-mail, too, where it went out that way."""
    try:
        invitation = flow.resend(request.user, request.workspace, invitation_id)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    except NotPossible as problem:
        messages.error(request, str(problem))
        return redirect(_home(request))
    return _issued(request, invitation, "A new link was made; the one before it ends here.")


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def invitation_revoke(request: WorkspaceRequest, invitation_id: int) -> HttpResponse:
    """Ask, then end an invitation that is waiting."""
    own = request.membership
    pending = request.workspace.invitations.pending().filter(pk=invitation_id).first()
    if not own.may_invite or (pending and pending.role not in own.roles_to_give):
        raise PermissionDenied("Owners and admins revoke invitations, owners those of owners.")
    if pending is None:
        return nothing_to_do(request, GONE, _home(request))
    question = Question(
        heading="Revoke the invitation",
        text=f"The invitation for {pending.subject} ends: its link lets nobody in any more. "
        "Who has accepted one already stays.",
        button="Revoke",
        icon="trash",
        back=_home(request),
        tab="members",
    )
    if not question.is_answered(request):
        return ask(request, question)
    try:
        invitation = flow.revoke(request.user, request.workspace, invitation_id)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    except NotPossible as problem:
        messages.error(request, str(problem))
    else:
        messages.success(
            request,
            f"The invitation for {invitation.subject} was revoked: its link lets nobody in now.",
        )
    return go(request, _home(request))


def _invite(request: WorkspaceRequest, form: InviteForm) -> HttpResponse:
    values = form.cleaned_data
    email = values["email"] if values["how"] == "email" else ""
    invitation = flow.invite(
        request.user, request.workspace, values["role"], values["request"], email
    )
    return _issued(request, invitation, "The invitation is ready.")


def _invite_logins(request: WorkspaceRequest, form: InviteForm) -> HttpResponse:
    role = form.cleaned_data["role"]
    answers = flow.invite_logins(request.user, request.workspace, role, form.all_logins)
    for level, names, words in (
        (messages.SUCCESS, [each.github_login for each in answers.invited], _invited_words()),
        (messages.INFO, answers.waiting, "Invited before, and still waiting: {}."),
        (messages.INFO, answers.members, "Members already: {}."),
        (messages.WARNING, answers.unknown, "Nobody on GitHub is called {}: not invited."),
    ):
        if names:
            messages.add_message(request, level, words.format(", ".join(names)))
    [only] = answers.invited if len(answers.invited) == 1 else [None]
    return go(request, f"{_home(request)}?issued={only.pk}" if only else _home(request))


def _invited_words() -> str:
    place = settings.PUBLIC_URL + reverse("invitations")
    return f"Invited: {{}}. Whoever signs in with that account finds the invitation at {place}."


def _issued(request: WorkspaceRequest, invitation: Invitation, news: str) -> HttpResponse:
    """On to the list, with the link to read; the e-mail goes out before."""
    if invitation.email and settings.EMAIL_HOST:
        problem = flow.send(request.user, invitation)
        if problem:
            messages.warning(request, problem)
        else:
            messages.success(request, f"The invitation was mailed to {invitation.email}.")
    else:
        messages.success(request, news)
    return go(request, f"{_home(request)}?issued={invitation.pk}")


def _form(request: WorkspaceRequest, form: InviteForm) -> HttpResponse:
    part = part_asked(request, PARTS, "dialog")
    context = {"form": form, "has_email": bool(settings.EMAIL_HOST)}
    return page(request, "members/invite.html", context, part, 422 if form.is_bound else 200)


def _home(request: WorkspaceRequest) -> str:
    return resolve_url("member-list", request.workspace.slug)
