"""New Rollout: the commands to run, a name check, and the wait for the push."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from rollouts_app import commands
from rollouts_app.forms import NewRolloutForm
from rollouts_app.models import Repository
from rollouts_app.onboarding import cli_address
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.arrivals import arrival_of
from rollouts_app.views.asked import AskedBranch, branch_asked
from rollouts_app.views.fragments import page, part_asked
from rollouts_app.views.unconnected import without_repository

PLACEHOLDER = "<name>"

# Where htmx puts an answer → the part that belongs there.
PARTS = {"new-rollout-steps": "steps", "arrival": "arrival"}


@require_safe
@workspace_page
def new_rollout(request: WorkspaceRequest) -> HttpResponse:
    """The dialog, which is also a page: useful without typing, checks the name as typed.

    `?name=` is checked against the branch; `?since=` is the newest sync run there was when the
    dialog opened: what comes after it is what it waits for.
    """
    repository = request.workspace.repository
    part = part_asked(request, PARTS, "dialog")
    if repository is None:
        return page(request, "rollouts/new.html", without_repository(request.workspace), part)
    asked = branch_asked(request, repository)
    # Once it has come, the name that is waited for is on the branch.
    form = NewRolloutForm(request.GET, None if part == "arrival" else asked.branch)
    is_fine = form.is_valid()
    name = form.cleaned_data.get("name", "")
    since = form.cleaned_data.get("since") or _newest_run(repository)
    # Without a name the wait begins when a command is copied.
    is_waiting = is_fine and (name or part == "arrival")
    arrival = arrival_of(repository, asked.default, name, since) if is_waiting else None
    context = {**_shown(asked, name), "form": form, "since": since, "arrival": arrival}
    response = page(request, "rollouts/new.html", context, part, status=200 if is_fine else 422)
    if arrival and arrival.state == "arrived":
        trigger_client_event(response, "catalog-synced")
    return response


def _shown(asked: AskedBranch, name: str) -> dict[str, Any]:
    """What the page shows for a name, empty while there is none."""
    return {
        "repository": asked.repository,
        "asked": asked,
        "name": name,
        "reminder": "" if name else f"Copied. Replace {PLACEHOLDER} before running.",
        "init_command": commands.init_command(name or PLACEHOLDER),
        "publish_commands": commands.publish_commands(name or PLACEHOLDER),
        "clone_commands": commands.clone_commands(asked.repository.page),
        "list_command": commands.list_command(asked.name, settings.GITHUB_URL),
        "sign_in_commands": f"{cli_address(settings.PUBLIC_URL)}\nosmosis auth login",
    }


def _newest_run(repository: Repository) -> int:
    newest = repository.sync_runs.order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0
