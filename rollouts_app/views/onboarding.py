"""First steps: a workspace, GitHub and the repository, the first sync, the clone. Resumable."""

from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from rollouts_app import connection, policy
from rollouts_app import onboarding as flow
from rollouts_app.addresses import GITHUB_COM
from rollouts_app.errors import GitHubError
from rollouts_app.forms import RepositoryChoiceForm, WorkspaceForm
from rollouts_app.models import Membership, Repository
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, manager_page
from rollouts_app.views.fragments import page
from rollouts_app.views.trouble import trouble_of

CREATORS = "Administrators of this server create workspaces. Ask one of them for yours."


@dataclass(frozen=True)
class Step:
    """One step: `state` is done, open or later. A done one collapses to its `fact`."""

    title: str
    template: str
    fact: str
    state: str = "later"


@require_safe
def onboarding(request: PersonRequest) -> HttpResponse:
    """Where this person stands, read from live state each time."""
    return _steps(request, _membership(request), WorkspaceForm())


@require_POST
def workspace_new(request: PersonRequest) -> HttpResponse:
    """Create a workspace; the person becomes its owner."""
    if not policy.may_create_workspaces(request.user):
        raise PermissionDenied(CREATORS)
    form = WorkspaceForm(request.POST)
    if form.is_valid():
        try:
            workspace = flow.start_workspace(request.user, form.cleaned_data["slug"])
            return redirect(_address(workspace.slug))
        except NotPossible as problem:
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
    state = request.GET.get("state", "")
    back = flow.return_by_state(request.user, state) if state else flow.Return(None)
    messages.info(request, _news(request.GET.get("setup_action", ""), back))
    return redirect(_address(back.workspace.slug) if back.workspace else "onboarding")


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
        messages.error(request, "Sign in with GitHub again, then choose the repository.")
    return redirect(_address(request.workspace.slug))


def _news(action: str, back: flow.Return) -> str:
    """What happened at GitHub, as far as it says so."""
    if back.fault:
        return (
            f"{back.fault.value}. Nothing is lost: this page shows where you stand, "
            "and from here you can connect GitHub again."
        )
    if action == "request":
        return (
            "GitHub has asked the owners of the organization to approve the App. "
            "Come back to this page when one of them has: its repositories are then listed here."
        )
    if back.workspace:
        return "GitHub has saved which repositories the App may read. Choose one of them."
    return "The App is installed. Choose the workspace its repository belongs to, or create one."


def _steps(
    request: PersonRequest,
    membership: Membership | None,
    form: WorkspaceForm,
    status: int = 200,
) -> HttpResponse:
    repository = membership.workspace.repository if membership else None
    context: dict[str, Any] = {
        "membership": membership,
        "workspace": membership.workspace if membership else None,
        "memberships": request.user.memberships.select_related("workspace").order_by("pk"),
        "form": form,
        "may_create_workspaces": membership is not None
        or policy.may_create_workspaces(request.user),
        "repository": repository,
    }
    if membership and repository:
        context |= _first_sync(repository) | _clone(repository)
    elif membership:
        context |= _choice(request, membership)
    context["steps"] = steps = _titled(membership, repository, context.get("synced", ""))
    context["done_count"] = sum(step.state == "done" for step in steps)
    return page(request, "onboarding/steps.html", context, "steps", status=status)


def _titled(
    membership: Membership | None, repository: Repository | None, synced: str
) -> list[Step]:
    """The steps with their states: the first that is not done is open."""
    workspace = f"Workspace {membership.workspace.slug}" if membership else ""
    connected = f"Connected {repository.full_name}" if repository else ""
    steps = [
        Step("Workspace", "onboarding/workspace.html", workspace),
        Step("GitHub and repository", "onboarding/repository.html", connected),
        Step("First sync", "onboarding/first_sync.html", synced),
        Step("Clone", "onboarding/clone.html", ""),
    ]
    current = next(number for number, step in enumerate(steps) if not step.fact)
    states = ["done"] * current + ["open"] + ["later"] * (len(steps) - current - 1)
    return [
        Step(step.title, step.template, step.fact, state)
        for step, state in zip(steps, states, strict=True)
    ]


def _first_sync(repository: Repository) -> dict[str, Any]:
    """How far the first sync is, and what stands in its way; in words once it has ended."""
    if repository.heads_checked_at:
        return {"synced": _outcome(repository), "poll_seconds": None}
    trouble = trouble_of(repository)
    done, total = repository.sync_runs.first_sync_progress()
    # Where GitHub is waited for, nothing moves within seconds.
    waits = trouble and (trouble.is_passing or not repository.full_check_requested_at)
    return {"trouble": trouble, "done": done, "total": total, "poll_seconds": 15 if waits else 2}


def _outcome(repository: Repository) -> str:
    branches = repository.branches.existing()
    default = branches.filter(name=repository.default_branch).select_related("catalog").first()
    if default is None or default.catalog is None:
        return f"Synced: nothing has been pushed to {repository.default_branch} yet"
    count, rollouts = branches.count(), default.catalog.rollout_count
    return (
        f"Synced {count} {'branch' if count == 1 else 'branches'}, "
        f"{rollouts} {'rollout' if rollouts == 1 else 'rollouts'} on {repository.default_branch}"
    )


def _clone(repository: Repository) -> dict[str, Any]:
    return {
        "clone_commands": flow.clone_commands(settings.GITHUB_URL, repository.full_name),
        "folder": repository.full_name.partition("/")[2],
        "has_cli": settings.GITHUB_URL == GITHUB_COM,
        "github_url": settings.GITHUB_URL,
        "cli_address": f"export OSMOSIS_PLATFORM_URL={quote(settings.PUBLIC_URL)}",
    }


def _choice(request: PersonRequest, membership: Membership) -> dict[str, Any]:
    """The accounts and repositories to choose from, or why they cannot be listed."""
    if not membership.may_manage_connection:
        return {"managers": membership.workspace.manager_names()}
    query = request.GET.get("q", "").strip()
    try:
        accounts = flow.accounts_of(request.user, query)
        return {
            "accounts": accounts,
            "query": query,
            "is_long": any(account.is_cut for account in accounts),
            "has_choice": any(account.is_choosable for account in accounts),
        }
    except SignInAgain:
        return {"must_sign_in_again": True, "next": _address(membership.workspace.slug)}
    except GitHubError as problem:
        return {"problem": str(problem)}


def _membership(request: PersonRequest) -> Membership | None:
    """The membership asked for, else that of the workspace opened last, else the newest.

    `?workspace=` asks for none: a new one is begun.
    """
    asked = request.GET.get("workspace", request.session.get("last_workspace"))
    if asked == "":
        return None
    memberships = request.user.memberships.order_by("-pk").with_repositories()
    newest = next(iter(memberships), None)
    return next((found for found in memberships if found.workspace.slug == asked), newest)


def _address(slug: str) -> str:
    return f"{reverse('onboarding')}?{urlencode({'workspace': slug})}"
