"""Which workspace a call is about: the one connected to the caller's clone, or the one named."""

import re
from dataclasses import dataclass

from rollouts_app import readers, tracing
from rollouts_app.api_keys import memberships_of
from rollouts_app.cli_api.access import CliRequest
from rollouts_app.cli_api.errors import CliError
from rollouts_app.models import Membership, Repository, RepositoryName, WorkspaceSlug

GIT, WORKSPACE = "X-Osmosis-Git", "X-Osmosis-Workspace"
# GitHub's rules for owners and repositories, as the command line checks them.
IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class Scope:
    """A workspace the caller belongs to, and its repository, as far as they may read it.

    `former_name` is what the caller's clone calls the repository, when it is called otherwise now.
    """

    membership: Membership
    repository: Repository | None
    former_name: str = ""


def scope_of(request: CliRequest) -> Scope | None:
    """The workspace that the headers name; None when they name none. Raises `CliError`.

    What does not exist and what belongs to others is refused alike.
    """
    identity, name = request.headers.get(GIT), request.headers.get(WORKSPACE)
    if identity is not None and name is not None:
        words = f"Send {GIT} or {WORKSPACE}, not both."
        raise CliError(400, "WORKSPACE_SCOPE_HEADER_CONFLICT", words)
    if identity is not None:
        scope = _by_repository(memberships_of(request.key), identity)
    elif name is not None:
        scope = _by_name(memberships_of(request.key), name)
    else:
        return None
    repository = scope.repository
    tracing.bind(workspace=scope.membership.workspace_id, repository=repository and repository.pk)
    return scope


def connected_to(membership: Membership) -> Repository | None:
    """The workspace's repository, for those whom GitHub lets read it."""
    return None if readers.is_kept_out(membership) else membership.workspace.repository


def _by_repository(memberships: list[Membership], identity: str) -> Scope:
    if not IDENTITY.fullmatch(identity):
        words = f"{GIT} must be owner/repository, as on GitHub."
        raise CliError(400, "GIT_SCOPE_HEADER_INVALID", words)
    wanted = identity.lower()
    by_id = {m.workspace.repository.pk: m for m in memberships if m.workspace.repository}
    named = [m for m in by_id.values() if _name_of(m) == wanted]
    former = "" if named else wanted
    found = named or _formerly(by_id, wanted)
    repository = connected_to(found[0]) if found else None
    if repository is None:
        words = "No workspace of yours has this repository, or GitHub does not let you read it."
        raise CliError(403, "GIT_SCOPE_HEADER_ACCESS_DENIED", words)
    return Scope(found[0], repository, former)


def _name_of(membership: Membership) -> str:
    repository = membership.workspace.repository
    return repository.full_name.lower() if repository else ""


def _formerly(by_id: dict[int, Membership], name: str) -> list[Membership]:
    """By a name that the repository had: the one that was called so last."""
    had_it = RepositoryName.objects.filter(full_name=name, repository__in=by_id)
    return [by_id[pk] for pk in had_it.order_by("-pk").values_list("repository", flat=True)]


def _by_name(memberships: list[Membership], name: str) -> Scope:
    by_slug = {membership.workspace.slug: membership for membership in memberships}
    found = by_slug.get(name.lower()) or _by_former_slug(memberships, name.lower())
    if found is None:
        words = "No workspace of yours has this name."
        raise CliError(403, "WORKSPACE_SCOPE_HEADER_ACCESS_DENIED", words)
    return Scope(found, connected_to(found))


def _by_former_slug(memberships: list[Membership], slug: str) -> Membership | None:
    by_id = {membership.workspace_id: membership for membership in memberships}
    former = WorkspaceSlug.objects.filter(slug=slug, workspace__in=by_id).first()
    return by_id[former.workspace_id] if former else None
