"""New Rollout: the commands to run, a name check, and the wait for the push."""

import shlex

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from rollouts_app.forms import RolloutNameForm
from rollouts_app.models import Branch, Repository, RolloutVersion
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.fragments import page

PLACEHOLDER = "<name>"


@require_safe
@workspace_page
def new_rollout(request: WorkspaceRequest) -> HttpResponse:
    """The dialog, which is also a page: useful without typing, checks the name as typed."""
    repository = request.workspace.repository_or_none()
    if repository is None:
        return page(request, "rollouts/new_unconnected.html", {}, "form")
    branch_name = request.GET.get("branch") or repository.default_branch
    form = RolloutNameForm(request.GET)
    is_fine = form.is_valid() and not _add_clash(form, repository, branch_name)
    name = form.cleaned_data.get("name", "") if is_fine else ""
    context = {
        "repository": repository,
        "branch_name": branch_name,
        "form": form,
        "name": name,
        "init_command": f"osmosis rollout init {name or PLACEHOLDER}",
        "publish_commands": publish_commands(name or PLACEHOLDER),
        "list_command": f"osmosis rollout list --branch {shlex.quote(branch_name)}",
    }
    fragment = "commands" if request.htmx.target == "new-rollout-commands" else "form"
    return page(request, "rollouts/new.html", context, fragment, status=200 if is_fine else 422)


def publish_commands(name: str) -> str:
    """The git lines that publish what `osmosis rollout init` wrote."""
    return "\n".join(
        [
            "git add rollouts configs",
            f'git commit -m "Add rollout {name}"',
            "git push -u origin HEAD",
        ]
    )


def _add_clash(form: RolloutNameForm, repository: Repository, branch_name: str) -> bool:
    """Say so when the branch holds a rollout of this name already."""
    branch = repository.branches.filter(name=branch_name).first()
    name = form.cleaned_data["name"]
    if not (branch and name):
        return False
    if not RolloutVersion.objects.on(branch).filter(rollout__name=name).exists():
        return False
    form.add_error("name", f"{branch_name} has a rollout named {name} already.")
    return True


@require_safe
@workspace_page
def await_rollout(request: WorkspaceRequest) -> HttpResponse:
    """Whether a rollout of this name has come, on whichever branch; asked until it has."""
    repository = request.workspace.repository_or_none()
    name = request.GET.get("name", "")
    branch = _branch_holding(repository, name) if repository else None
    context = {"repository": repository, "name": name, "branch": branch}
    return page(request, "rollouts/new_arrival.html", context, "arrival")


def _branch_holding(repository: Repository, name: str) -> Branch | None:
    """The most recently changed branch that shows a rollout of this name."""
    versions = RolloutVersion.objects.filter(
        rollout__repository=repository, rollout__name=name
    ).values_list("pk", flat=True)
    holding = repository.branches.existing().filter(catalog__versions__overlap=list(versions))
    return holding.order_by("-changed_at").first()
