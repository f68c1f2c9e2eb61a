"""First steps: a workspace, GitHub and the repository, the first sync, the clone. Resumable."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from rollouts_app import onboarding as flow
from rollouts_app.errors import GitHubError
from rollouts_app.forms import RepositoryChoiceForm, WorkspaceForm
from rollouts_app.models import Membership, Repository
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, manager_page
from rollouts_app.views.fragments import page
from rollouts_app.views.freshness import freshness_of

TITLES = ["Workspace", "GitHub and repository", "First sync", "Clone"]


@dataclass(frozen=True)
class Step:
    """One step: `state` is done, open or later; a done one collapses to a fact."""

    title: str
    state: str
    fact: str


@require_safe
def onboarding(request: PersonRequest) -> HttpResponse:
    """Where this person stands, read from live state each time."""
    return _steps(request, _membership(request), WorkspaceForm())


@require_POST
def workspace_new(request: PersonRequest) -> HttpResponse:
    """Create a workspace; the person becomes its owner."""
    form = WorkspaceForm(request.POST)
    if form.is_valid():
        try:
            workspace = flow.start_workspace(request.user, form.cleaned_data["slug"])
            return redirect(_address(workspace.slug))
        except flow.NotPossible as problem:
            form.add_error("slug", str(problem))
    return _steps(request, None, form, status=422)


@require_POST
@manager_page
def connect_installation(request: WorkspaceRequest) -> HttpResponse:
    """Off to GitHub, where the App gets installed on an account."""
    return redirect(flow.installation_address(request.user, request.workspace))


@require_safe
def installed(request: PersonRequest) -> HttpResponse:
    """Back from GitHub. The installation's number in the address is nobody's proof: it is unused.

    https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
    """
    workspace = flow.workspace_of_state(request.user, request.GET.get("state", ""))
    if request.GET.get("setup_action") == "request":
        messages.info(
            request,
            "GitHub has asked an owner of the organization to approve the App. "
            "Come back here when they have: nothing else is needed.",
        )
    elif workspace is None:
        messages.info(request, "The App is installed. Choose where its repository belongs.")
    return redirect(_address(workspace.slug) if workspace else "onboarding")


@require_POST
@manager_page
def connect_repository(request: WorkspaceRequest) -> HttpResponse:
    """Tie the chosen repository to the workspace; the first sync starts at once."""
    form = RepositoryChoiceForm(request.POST)
    try:
        if form.is_valid():
            flow.connect_repository(request.user, request.workspace, *form.numbers)
        else:
            messages.error(request, "Choose one of the repositories listed.")
    except (flow.NotPossible, GitHubError) as problem:
        messages.error(request, str(problem))
    except flow.SignInAgain:
        messages.error(request, "Sign in with GitHub again, then choose the repository.")
    return redirect(_address(request.workspace.slug))


def _steps(
    request: PersonRequest,
    membership: Membership | None,
    form: WorkspaceForm,
    status: int = 200,
) -> HttpResponse:
    repository = membership.workspace.repository_or_none() if membership else None
    context: dict[str, Any] = {
        "membership": membership,
        "workspace": membership.workspace if membership else None,
        "form": form,
        "repository": repository,
    }
    if repository:
        context |= _first_sync(repository)
    elif membership and membership.may_manage_connection:
        context |= _choice(request)
    context["steps"] = _titled(membership, repository, context)
    return page(request, "onboarding/steps.html", context, "steps", status=status)


def _titled(
    membership: Membership | None, repository: Repository | None, context: dict[str, Any]
) -> list[Step]:
    """The steps with their states: the first that is not done is open."""
    facts = [
        f"Workspace {membership.workspace.slug}" if membership else "",
        f"Connected {repository.full_name}" if repository else "",
        context.get("synced", ""),
        "",
    ]
    current = facts.index("")
    states = [
        "done" if fact else "open" if n == current else "later" for n, fact in enumerate(facts)
    ]
    return [Step(*step) for step in zip(TITLES, states, facts, strict=True)]


def _first_sync(repository: Repository) -> dict[str, Any]:
    default = repository.branches.filter(name=repository.default_branch).first()
    freshness = freshness_of(repository, default)
    count = default.catalog.rollout_count if default and default.catalog else 0
    return {
        "freshness": freshness,
        "synced": "" if freshness.state == "reading" else f"First sync: {count} rollouts",
        "clone_commands": flow.clone_commands(settings.GITHUB_URL, repository.full_name),
    }


def _choice(request: PersonRequest) -> dict[str, Any]:
    """The accounts and repositories to choose from, or why they cannot be listed."""
    try:
        return {"accounts": flow.accounts_of(request.user)}
    except flow.SignInAgain:
        return {"accounts": [], "must_sign_in_again": True}
    except GitHubError as problem:
        return {"accounts": [], "problem": str(problem)}


def _membership(request: PersonRequest) -> Membership | None:
    """The membership asked for, else that of the workspace opened last, else the newest."""
    memberships = request.user.memberships.select_related("workspace__repository")
    asked = request.GET.get("workspace") or request.session.get("last_workspace")
    if request.GET.get("workspace") == "":
        return None
    found = memberships.filter(workspace__slug=asked).first() if asked else None
    return found or memberships.order_by("-pk").first()


def _address(slug: str) -> str:
    return f"{reverse('onboarding')}?{urlencode({'workspace': slug})}"
