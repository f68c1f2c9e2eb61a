"""First steps: a workspace, GitHub and the repository, the first sync, the clone, the command line.

Resumable: each step is read from live state, but for those that only the person can tick off.
"""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from rollouts_app import checklist, github_app, installing, policy, readers, starting
from rollouts_app import onboarding as flow
from rollouts_app.addresses import new_installation_page, requests_page
from rollouts_app.checklist import Checklist, checklist_of
from rollouts_app.choosing import accounts_of
from rollouts_app.errors import GitHubError
from rollouts_app.forms import NewRepositoryForm, WorkspaceForm
from rollouts_app.models import InstallationRequest, Membership, Repository
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, people_page
from rollouts_app.views.fragments import page
from rollouts_app.views.trouble import trouble_of

# A full name at GitHub is 140 characters at most.
LONGEST_QUERY = 200
CREATORS = "Administrators of this server create workspaces. Ask one of them for yours."
TITLES = {
    checklist.WORKSPACE: "Workspace",
    checklist.REPOSITORY: "GitHub and repository",
    checklist.SYNC: "First sync",
    checklist.CLONE: "Clone",
    checklist.CLI: "Command line",
    checklist.VERIFY: "Verify",
}
FACTS = {
    checklist.CLONE: "Cloned",
    checklist.CLI: "Command line installed, signed in",
    checklist.VERIFY: "Verified",
}
# Seconds between two looks while an owner's approval is waited for.
REQUEST_PAUSE = 15


@dataclass(frozen=True)
class Step:
    """One step: `state` is done, open or later. A done one collapses to its `fact`."""

    name: str
    fact: str
    state: str

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @property
    def template(self) -> str:
        return f"onboarding/{self.name}.html"

    @property
    def is_ticked(self) -> bool:
        """Whether only the person can say that it is done."""
        return self.name in checklist.TICKED


@require_safe
def onboarding(request: PersonRequest) -> HttpResponse:
    """Where this person stands, read from live state each time; `?step=` opens a step again."""
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
@people_page
def setup_step(request: WorkspaceRequest) -> HttpResponse:
    """Tick a step off, or not; take the checklist out of the header, or put it back."""
    own, step = request.membership, request.POST.get("step", "")
    if step:
        checklist.tick(own, step, is_done=request.POST.get("done") == "yes")
    else:
        checklist.dismiss(own, is_dismissed=request.POST.get("reminder") == "off")
    return redirect(_address(request.workspace.slug))


def _steps(
    request: PersonRequest,
    membership: Membership | None,
    form: WorkspaceForm,
    status: int = 200,
) -> HttpResponse:
    repository = membership.workspace.repository if membership else None
    is_kept_out = membership is not None and readers.is_kept_out(membership)
    context: dict[str, Any] = {
        "membership": membership,
        "workspace": membership.workspace if membership else None,
        "memberships": request.user.memberships.select_related("workspace").order_by("pk"),
        "form": form,
        "may_create_workspaces": membership or policy.may_create_workspaces(request.user),
        "repository": None if is_kept_out else repository,
        "is_kept_out": is_kept_out,
        "is_refused": is_kept_out and membership is not None and membership.may_read is False,
        "has_cli": checklist.has_cli(),
        "github_url": settings.GITHUB_URL,
        "checklist": checklist_of(membership),
    }
    if is_kept_out:
        context["poll_seconds"] = REQUEST_PAUSE
    elif membership and repository:
        context |= _first_sync(repository) | _clone(repository)
    elif membership:
        context |= _choice(request, membership)
    context["steps"] = _titled(context, request.GET.get("step", ""))
    return page(request, "onboarding/steps.html", context, "steps", status=status)


def _titled(context: dict[str, Any], asked: str) -> list[Step]:
    """The steps with their states: the first that is not done is open, or the one asked for."""
    own: Checklist = context["checklist"]
    repository = context["repository"]
    facts = {
        **FACTS,
        checklist.WORKSPACE: f"Workspace {context['workspace']}",
        checklist.REPOSITORY: f"Connected {repository.full_name}" if repository else "",
        checklist.SYNC: context.get("synced", ""),
    }
    if context["membership"] and (done := checklist.quickstart_fact(context["membership"])):
        facts[checklist.CLI] = f"{FACTS[checklist.CLI]}: {done}"
    current = asked if asked in own.done & set(checklist.TICKED) else own.next
    states = {step: "done" if step in own.done else "later" for step in own.steps} | {
        current: "open"
    }
    return [Step(step, facts[step], states[step]) for step in own.steps]


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
        "cli_address": flow.cli_address(settings.PUBLIC_URL),
        "is_insecure": flow.is_insecure(settings.PUBLIC_URL),
    }


def _choice(request: PersonRequest, membership: Membership) -> dict[str, Any]:
    """The accounts and repositories to choose from, or why they cannot be listed."""
    workspace = membership.workspace
    if not membership.may_manage_connection:
        return {"managers": workspace.manager_names(), "poll_seconds": REQUEST_PAUSE}
    installing.follow_requests(workspace)
    query = " ".join(request.GET.get("q", "").split())[:LONGEST_QUERY]
    only = _number(request.GET.get("account", ""))
    try:
        accounts = accounts_of(request.user, query, only)
    except SignInAgain:
        return {"must_sign_in_again": True, "next": _address(workspace.slug)}
    except GitHubError as problem:
        return {"problem": str(problem)}
    installations = [account.installation for account in accounts]
    installing.settle_approved(workspace, installations)
    requests = list(
        workspace.installation_requests.open().select_related("user").order_by("-requested_at")
    )
    return {
        "accounts": accounts,
        "query": query,
        "only": next((each for each in accounts if each.installation.id == only), None),
        "has_choice": any(account.is_choosable for account in accounts),
        "requests": requests,
        "is_missing": bool(requests) and all(each.missing_at for each in requests),
        "approval_page": _approval_page(requests),
        "template": settings.TEMPLATE_REPOSITORY,
        "may_create": starting.may_create(installations),
        "new_repository": NewRepositoryForm(initial={"name": f"{workspace.slug}-rollouts"}),
        "poll_seconds": REQUEST_PAUSE if requests and not query else None,
    }


def _approval_page(requests: list[InstallationRequest]) -> str:
    """Where owners approve what was asked for last; the App's own page when it is not known whose
    they are.
    """
    login = next((each.account_login for each in requests), "")
    if login:
        return requests_page(settings.GITHUB_URL, login)
    return new_installation_page(settings.GITHUB_URL, github_app.credentials().slug)


def _number(text: str) -> int:
    """A number in the address; 0 where there is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


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
