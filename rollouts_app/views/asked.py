"""What an address asks for: the branch, the search, the page."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404

from rollouts_app.models import Branch, Repository
from rollouts_app.views.access import WorkspaceRequest


@dataclass(frozen=True)
class AskedBranch:
    """The branch that `?branch=` names, the default one when it names none.

    `branch` is None when there is no such row; `default` is what it is compared with.
    """

    repository: Repository
    name: str
    branch: Branch | None
    default: Branch | None

    @property
    def is_default(self) -> bool:
        return self.name == self.repository.default_branch

    @property
    def query(self) -> str:
        """The branch as part of one of our addresses."""
        return urlencode({"branch": self.name})

    @property
    def commit(self) -> str:
        """The commit on show; empty when the branch has not been read."""
        return self.branch.commit if self.branch else ""

    @property
    def commit_page(self) -> str:
        return self.repository.commit_page(self.commit)


def text_asked(request: WorkspaceRequest, name: str) -> str:
    """A value of the address. PostgreSQL stores no NUL, so none can be searched for."""
    return request.GET.get(name, "").replace("\0", "\ufffd")


def repository_asked(request: WorkspaceRequest) -> Repository:
    """The workspace repository. Raises Http404 when none is connected."""
    repository = request.workspace.repository
    if repository is None:
        raise Http404
    return repository


def branch_asked(request: WorkspaceRequest, repository: Repository) -> AskedBranch:
    """The branch of the address and the default branch, in one query."""
    name = text_asked(request, "branch") or repository.default_branch
    found = {
        branch.name: branch
        for branch in repository.branches.named({name, repository.default_branch}).select_related(
            "catalog"
        )
    }
    return AskedBranch(repository, name, found.get(name), found.get(repository.default_branch))
