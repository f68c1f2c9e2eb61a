"""The rollouts of a branch."""

from django.conf import settings
from django.http import JsonResponse
from django.urls import reverse

from rollouts_app.cli_api import shapes
from rollouts_app.cli_api.access import CliRequest, Slice, cli_door, slice_asked
from rollouts_app.cli_api.errors import CliError
from rollouts_app.cli_api.hints import with_hint
from rollouts_app.cli_api.scope import GIT, Scope, scope_of
from rollouts_app.models import Branch, Repository, RolloutVersion
from rollouts_app.models.branches import is_nameable
from rollouts_app.templatetags.rollouts import visible

NEAREST = 3
NOT_THERE = "No branch “{name}” is known here."
WAIT = "If you have just pushed it, it is here once it has been synced."


@cli_door("GET", "HEAD")
def rollouts(request: CliRequest) -> JsonResponse:
    """`?branch=`, the default one without; by name, `?limit=` from `?offset=` on.

    A branch that was never read shows nothing yet; one that is not there is a 404 with names like
    it.
    """
    asked = slice_asked(request)
    scope = scope_of(request)
    if scope is None:
        raise CliError(400, "GIT_SCOPE_HEADER_REQUIRED", f"Send {GIT}: owner/repository.")
    repository = _repository(scope)
    name = request.GET.get("branch") or repository.default_branch
    branch = _branch(repository, name)
    total = branch.catalog.rollout_count if branch and branch.catalog else 0
    answer = {
        "rollouts": _rows(repository, branch, asked) if branch and asked.offset < total else [],
        **asked.around(total),
        "branch": name,
        "last_synced_commit_sha": (branch.commit or None) if branch else None,
    }
    return with_hint(JsonResponse(answer), scope)


def _repository(scope: Scope) -> Repository:
    if scope.repository is None:
        slug = scope.membership.workspace.slug
        page = settings.PUBLIC_URL + reverse("git-integration", args=[slug])
        words = f"{slug} has no repository that you may read. See {page}"
        raise CliError(404, "REPOSITORY_NOT_CONNECTED", words)
    return scope.repository


def _branch(repository: Repository, name: str) -> Branch | None:
    """The branch; None for a default branch that was never seen. Raises `CliError`."""
    found = None
    if is_nameable(name):
        found = repository.branches.named([name]).select_related("catalog").first()
    if found is None and name == repository.default_branch:
        return None
    if found is None or found.deleted_at:
        raise CliError(404, "BRANCH_NOT_FOUND", _missing(repository, name, found))
    return found


def _missing(repository: Repository, name: str, tombstone: Branch | None) -> str:
    shown = visible(name)
    if tombstone and tombstone.is_tombstone:
        return f"The branch “{shown}” was deleted on GitHub; last synced {tombstone.commit[:7]}."
    nearest = repository.branches.existing().nearest(name, NEAREST)
    like = f" Did you mean {_listed(nearest)}?" if nearest else ""
    return f"{NOT_THERE.format(name=shown)}{like} {WAIT}"


def _listed(names: list[str]) -> str:
    quoted = [f"“{visible(name)}”" for name in names]
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def _rows(repository: Repository, branch: Branch, asked: Slice) -> list[shapes.Json]:
    # Values, and the ids that came with the catalog: models and a subquery take twice as long.
    ids = branch.catalog.versions if branch.catalog else []
    found = RolloutVersion.objects.filter(id__in=ids).order_by("rollout__name")
    rows = found.values_list(*shapes.ROLLOUT)[asked.offset : asked.offset + asked.limit]
    return [shapes.rollout_of(row, branch, repository) for row in rows]
