"""What the pages of a workspace tell while no repository is connected."""

from typing import Any

from rollouts_app.models import Workspace


def without_repository(workspace: Workspace) -> dict[str, Any]:
    """Who may connect one, by name, those that are kept, and what is waited for. Three queries."""
    return {
        "managers": workspace.manager_names(),
        "all_kept": list(workspace.kept_repositories()),
        "waiting": workspace.installation_requests.open().first(),
    }
