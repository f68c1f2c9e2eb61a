"""One's own account: what is known of the person, and its end."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.http import require_http_methods, require_safe

from rollouts_app import memberships
from rollouts_app.models import Membership, User
from rollouts_app.refusals import NotPossible
from rollouts_app.views.access import PersonRequest
from rollouts_app.views.confirming import Question, ask, go


@require_safe
def account(request: PersonRequest) -> HttpResponse:
    """Who one is here, and where one belongs."""
    return render(request, "members/account.html", {"memberships": _memberships(request.user)})


@require_http_methods(["GET", "HEAD", "POST"])
def account_delete(request: PersonRequest) -> HttpResponse:
    """Ask for the GitHub login, then delete the account. Sole owners are told what to do first."""
    user = request.user
    question = Question(
        heading="Delete your account",
        text=_what_goes(_memberships(user)),
        button="Delete my account for good",
        icon="trash",
        back=resolve_url("account"),
        typed=user.github_login or user.username,
        refusal=_why_not(user),
    )
    if question.refusal or not question.is_answered(request):
        return ask(request, question)
    try:
        memberships.delete_account(user)
    except NotPossible as problem:
        messages.error(request, str(problem))
        return go(request, resolve_url("account"))
    logout(request)
    messages.success(request, "Your account was deleted.")
    return go(request, resolve_url("landing"))


def _memberships(user: User) -> list[Membership]:
    return list(user.memberships.select_related("workspace").order_by("workspace__slug"))


def _what_goes(own: list[Membership]) -> str:
    slugs = ", ".join(each.workspace.slug for each in own)
    places = f"Your membership in {slugs} ends at once. " if own else ""
    return (
        f"{places}Your account and its sign-in are deleted here; your name stays in the audit logs "
        "of what you did. On GitHub nothing changes. Signing in again makes a new account."
    )


def _why_not(user: User) -> str:
    try:
        memberships.check_departure(user)
    except NotPossible as problem:
        return str(problem)
    return ""
