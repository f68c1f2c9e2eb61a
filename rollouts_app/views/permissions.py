"""What the App was granted on the repository's account, against what it needs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from rollouts_app import github_app
from rollouts_app.addresses import app_page
from rollouts_app.errors import GitHubError
from rollouts_app.models import Installation, Repository
from rollouts_app.sync.clients import app_client
from rollouts_app.sync.installations import store_installation
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked
from rollouts_app.views.fragments import page
from rollouts_app.views.trouble import trouble_of

CREATING = "administration"
REASONS = {
    "contents": "To read the rollouts of each branch, and the commits they come from.",
    "metadata": "To know the repository's name, default branch and visibility. GitHub asks every "
    "App to have it.",
    CREATING: "Only to create a repository from a template, in the first steps. Git Sync does "
    "without it.",
}
UNUSED = "This server makes no use of it. The App's owner can stop asking for it."


@dataclass(frozen=True)
class Permission:
    """One permission: `state` is granted, missing, optional or unused; `level` that granted.

    A missing one says with `advice` who can mend that, and `page` leads there.
    """

    name: str
    state: str
    level: str
    reason: str
    advice: str = ""
    page: str = ""
    page_name: str = ""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Asked:
    """What the App asks accounts for; None with a `problem` when GitHub could not be asked."""

    permissions: Mapping[str, str] | None
    problem: str = ""


@require_safe
@workspace_page
def git_permissions(request: WorkspaceRequest) -> HttpResponse:
    """A line for each permission, as GitHub tells now."""
    repository = repository_asked(request)
    asked = _ask(repository)
    context = {
        "repository": repository,
        "trouble": trouble_of(repository),
        "limited_until": repository.limited_until,
        "problem": asked.problem,
        "permissions": list(_lines(repository.installation, asked)),
    }
    return page(request, "git/permissions.html", context, "permissions")


def _ask(repository: Repository) -> Asked:
    """Have GitHub tell anew what is granted, and keep it."""
    try:
        client = app_client()
        facts = client.installation(repository.installation.github_id)
        repository.installation = store_installation(facts)
        return Asked(client.app().permissions)
    except GitHubError as error:
        return Asked(None, str(error))


def _lines(installation: Installation, asked: Asked) -> Iterator[Permission]:
    """First what Git Sync needs, then what it could do without."""
    granted, needed = installation.permissions, installation.NEEDED_PERMISSIONS
    for name in needed:
        if granted.get(name):
            yield Permission(name, "granted", granted[name], REASONS[name])
        else:
            yield _missing(name, installation, asked)
    if not granted.get(CREATING):
        yield Permission(CREATING, "optional", "", REASONS[CREATING])
    for name in sorted(granted.keys() - needed):
        is_used = name == CREATING
        state, reason = ("granted", REASONS[name]) if is_used else ("unused", UNUSED)
        yield Permission(name, state, granted[name], reason)


def _missing(name: str, installation: Installation, asked: Asked) -> Permission:
    account = installation.account_login
    if asked.permissions is not None and not asked.permissions.get(name):
        return Permission(
            name,
            *("missing", "", REASONS[name]),
            "The App does not ask for it. The App's owner adds it in its settings, then an owner "
            f"of {account} accepts it.",
            app_page(settings.GITHUB_URL, github_app.credentials().slug),
            "Open the App on GitHub",
        )
    return Permission(
        name,
        *("missing", "", REASONS[name]),
        f"The App asks for it. An owner of {account} can accept it on GitHub.",
        installation.permissions_page,
        "Accept it on GitHub",
    )
