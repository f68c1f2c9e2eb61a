"""What keeps Git Sync from GitHub, in words: the cause, the next step, and where to take it."""

from dataclasses import dataclass
from datetime import datetime

from rollouts_app.models import Repository

UNINSTALLED, SUSPENDED = "uninstalled", "suspended"
PASSING = {Repository.Trouble.RATE_LIMITED.value, Repository.Trouble.UNAVAILABLE.value}

# Cause and next step of each kind of trouble.
WORDS = {
    UNINSTALLED: (
        "Sync is blocked: the GitHub App is no longer installed on {account}.",
        "Install it again for {repository}, and Git Sync goes on by itself.",
    ),
    SUSPENDED: (
        "Sync is blocked: the GitHub App is suspended on {account}.",
        "An owner of {account} can unsuspend it on GitHub. Git Sync then goes on by itself.",
    ),
    Repository.Trouble.GONE.value: (
        "Sync is blocked: GitHub does not show {repository} to the App.",
        "It was deleted, or the App may no longer read it. Give the App access to it on GitHub, "
        "and Git Sync goes on by itself.",
    ),
    Repository.Trouble.DENIED.value: (
        "Sync is blocked: GitHub refuses the App access to {repository}.",
        "Check on GitHub that the App may read contents, that no new permission waits to be "
        "accepted, and that no policy of {account} keeps it out. Then press Sync now.",
    ),
    Repository.Trouble.RATE_LIMITED.value: (
        "Sync waits: GitHub limits our requests.",
        "There is nothing to do: it goes on by itself.",
    ),
    Repository.Trouble.UNAVAILABLE.value: (
        "Sync waits: GitHub gave no usable answer.",
        "It is tried again by itself. If it stays so, the administrator of this server should "
        "check its connection to GitHub.",
    ),
}


@dataclass(frozen=True)
class Trouble:
    """Why the page is not as fresh as it should be.

    `kind` is a key of WORDS; `said` quotes GitHub; `link` leads to the installation's settings at
    GitHub where those can help.
    """

    kind: str
    title: str
    advice: str
    said: str
    since: datetime | None
    retry_at: datetime | None
    link: str

    @property
    def is_passing(self) -> bool:
        """Whether it ends without anybody doing anything."""
        return self.kind in PASSING

    @property
    def needs_installing(self) -> bool:
        """Whether the App has to be installed again."""
        return self.kind == UNINSTALLED


def trouble_of(repository: Repository) -> Trouble | None:
    """What is the matter, or None. No query when the installation was selected."""
    kind = _kind(repository)
    if not kind:
        return None
    installation = repository.installation
    names = {"account": installation.account_login, "repository": repository.full_name}
    title, advice = WORDS[kind]
    return Trouble(
        kind=kind,
        title=title.format(**names),
        advice=advice.format(**names),
        said=repository.trouble_reason,
        since=repository.trouble_since or installation.removed_at or installation.suspended_at,
        retry_at=repository.retry_at,
        link="" if kind in PASSING or kind == UNINSTALLED else installation.page,
    )


def _kind(repository: Repository) -> str:
    if repository.installation.removed_at:
        return UNINSTALLED
    if repository.installation.suspended_at:
        return SUSPENDED
    return repository.trouble
