"""The way to GitHub's installation page and back; requests to owners; choosing a repository."""

from itertools import chain
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from rollouts_app import connection, installing, starting
from rollouts_app.errors import GitHubError
from rollouts_app.forms import NewRepositoryForm, RepositoryChoiceForm
from rollouts_app.github import InstallationFacts
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, manager_page

SIGN_IN_AGAIN = "Sign in with GitHub again, then choose the repository."
NOT_SHOWN = (
    "GitHub does not show you this installation of the App, so nothing was done. Whoever installed "
    "it can connect it, or give you access on GitHub."
)


@require_POST
@manager_page
def connect_installation(request: WorkspaceRequest) -> HttpResponse:
    """Off to GitHub, where the App gets installed on an account."""
    return redirect(installing.installation_address(request.user, request.workspace))


@login_not_required
@never_cache
@require_safe
def installed(request: PersonRequest) -> HttpResponse:
    """Back from GitHub. The installation's number in the address is nobody's proof.

    https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
    """
    state = request.GET.get("state", "")
    if not request.user.is_authenticated:
        if state:
            return redirect_to_login(request.get_full_path())
        # An owner who approved somebody else's request, mostly: they need no account here.
        return render(request, "onboarding/approved.html")
    return _with_state(request, state) if state else _from_github(request)


@require_POST
@manager_page
def request_new(request: WorkspaceRequest) -> HttpResponse:
    """Wait in this workspace for what was asked at GitHub without having begun here."""
    installing.note_request(request.user, request.workspace)
    return redirect(_address(request.workspace.slug))


@require_POST
@manager_page
def request_drop(request: WorkspaceRequest) -> HttpResponse:
    """Wait no longer for an owner to approve."""
    request.workspace.installation_requests.settle()
    messages.info(
        request,
        "The request is no longer waited for here. On GitHub its owners may still approve it.",
    )
    return redirect(_address(request.workspace.slug))


@require_POST
@manager_page
def connect_repository(request: WorkspaceRequest) -> HttpResponse:
    """Tie the chosen repository to the workspace; the first sync starts at once."""
    form = RepositoryChoiceForm(request.POST)
    try:
        if form.is_valid():
            connection.connect_repository(request.user, request.workspace, *form.numbers)
        else:
            messages.error(request, "Choose one of the repositories listed.")
    except (NotPossible, GitHubError) as problem:
        messages.error(request, str(problem))
    except SignInAgain:
        messages.error(request, SIGN_IN_AGAIN)
    return redirect(_address(request.workspace.slug))


@require_POST
@manager_page
def create_repository(request: WorkspaceRequest) -> HttpResponse:
    """Create a private repository from the template, and connect it."""
    form = NewRepositoryForm(request.POST)
    try:
        if not form.is_valid():
            raise NotPossible(" ".join(map(str, chain(*form.errors.values()))))
        facts = installing.reaches(request.user, form.cleaned_data["installation"])
        if facts is None or not starting.may_create([facts]):
            raise NotPossible("The App may not create repositories on this account.")
        name = form.cleaned_data["name"]
        starting.create_from_template(request.user, request.workspace, facts, name)
    except (NotPossible, GitHubError) as problem:
        messages.error(request, str(problem))
    except SignInAgain:
        messages.error(request, SIGN_IN_AGAIN)
    return redirect(_address(request.workspace.slug))


def _with_state(request: PersonRequest, state: str) -> HttpResponse:
    """Back where somebody began, if the state is theirs and good."""
    back = installing.return_by_state(request.user, state)
    if back.fault or back.workspace is None:
        messages.info(request, _fault(back.fault or installing.StateFault.UNKNOWN))
    elif _is_request(request):
        installing.note_request(request.user, back.workspace)
    elif _is_foreign(request):
        messages.error(request, NOT_SHOWN)
    else:
        messages.info(
            request,
            "GitHub has saved which repositories the App may read. Choose one of them.",
        )
    return redirect(_address(back.workspace.slug) if back.workspace else "onboarding")


def _is_request(request: PersonRequest) -> bool:
    return request.GET.get("setup_action") == "request"


def _is_foreign(request: PersonRequest) -> bool:
    """Whether GitHub does not list to the person what they say they come from.

    While it cannot be asked nothing is lost: only what it lists can be chosen.
    """
    number = _number(request)
    try:
        return bool(number) and installing.reaches(request.user, number) is None
    except (SignInAgain, GitHubError):
        return False


def _number(request: PersonRequest) -> int:
    """The installation's number in the address; 0 where there is none."""
    number = request.GET.get("installation_id", "")
    is_one = number.isascii() and number.isdecimal() and len(number) < 17
    return int(number) if is_one else 0


def _from_github(request: PersonRequest) -> HttpResponse:
    """Somebody who began on GitHub's own pages: which workspace do they mean?"""
    if _is_request(request):
        return _which(request, None)
    number = _number(request)
    if not number:
        return redirect("onboarding")
    try:
        facts = installing.reaches(request.user, number)
    except SignInAgain:
        return redirect_to_login(request.get_full_path())
    except GitHubError as problem:
        messages.error(request, str(problem))
        return redirect("onboarding")
    if facts is None:
        messages.error(request, NOT_SHOWN)
        return redirect("onboarding")
    return _which(request, facts)


def _which(request: PersonRequest, facts: InstallationFacts | None) -> HttpResponse:
    """Ask for the workspace of an installation; without one, of a request for it."""
    memberships = request.user.memberships.order_by("workspace__slug").with_repositories()
    number = facts.id if facts else 0
    context: dict[str, Any] = {
        "installation": facts,
        "waiting": [each for each in memberships if _may_connect(each)],
        "connected": [each for each in memberships if _is_of(each, number)],
    }
    return render(request, "onboarding/which.html", context)


def _may_connect(membership: Any) -> bool:
    return membership.may_manage_connection and membership.workspace.repository is None


def _is_of(membership: Any, installation_id: int) -> bool:
    repository = membership.workspace.repository
    return repository is not None and repository.installation.github_id == installation_id


def _fault(fault: installing.StateFault) -> str:
    return (
        f"{fault.value}. Nothing is lost: this page shows where you stand, "
        "and from here you can connect GitHub again."
    )


def _address(slug: str) -> str:
    return f"{reverse('onboarding')}?{urlencode({'workspace': slug})}"
