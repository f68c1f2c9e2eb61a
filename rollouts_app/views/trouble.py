"""What keeps Git Sync from GitHub, in words: the cause, the next step, and where to take it."""

from dataclasses import dataclass
from datetime import datetime

from rollouts_app.models import Repository

UNINSTALLED, SUSPENDED = "uninstalled", "suspended"


@dataclass(frozen=True)
class Words:
    """What is said of one kind of trouble.

    `title` and `advice` stand on Git Integration; `cause` is the short form of the freshness line;
    `page` is what the page at GitHub that helps is called, empty where none does.
    """

    title: str
    advice: str
    cause: str
    page: str = ""


INSTALLATION = "Open the installation on GitHub"
WORDS = {
    UNINSTALLED: Words(
        "Sync is blocked: the GitHub App is no longer installed on {account}.",
        "Install it again for {repository}, and Git Sync goes on by itself.",
        "the GitHub App is not installed any more.",
    ),
    SUSPENDED: Words(
        "Sync is blocked: the GitHub App is suspended on {account}.",
        "An owner of {account} can unsuspend it on GitHub. Git Sync then goes on by itself.",
        "the GitHub App is suspended.",
        INSTALLATION,
    ),
    Repository.Trouble.GONE.value: Words(
        "Sync is blocked: GitHub does not show {repository} to the App.",
        "It was deleted, moved to another account, or taken off the App's list of repositories. "
        "Give the App access to it on GitHub, and Git Sync goes on by itself.",
        "GitHub does not show {repository} to the App.",
        INSTALLATION,
    ),
    Repository.Trouble.DELETED.value: Words(
        "Sync is blocked: {repository} was deleted on GitHub.",
        "If it is restored there, Git Sync goes on by itself. A new repository of the same name is "
        "another one: change to that.",
        "GitHub no longer has {repository}.",
    ),
    Repository.Trouble.REMOVED.value: Words(
        "Sync is blocked: {repository} was taken off the App's list on {account}.",
        "Add it to the repositories that the App may read, and Git Sync goes on by itself.",
        "the App may no longer read {repository}.",
        INSTALLATION,
    ),
    Repository.Trouble.MOVED.value: Words(
        "Sync is blocked: the repository was moved to {owner}, where the App is not installed.",
        "Install the App on {owner} for {repository}, and Git Sync goes on by itself.",
        "the repository was moved to {owner}, where the App is not installed.",
    ),
    Repository.Trouble.PERMISSION.value: Words(
        "Sync is blocked: the App lacks a permission on {account}.",
        "An owner of {account} can accept what the App asks for on GitHub. Git Sync then goes on "
        "by itself.",
        "the App lacks a permission on {account}.",
        "Review the permissions on GitHub",
    ),
    Repository.Trouble.POLICY.value: Words(
        "Sync is blocked: a policy of {account} keeps the App out.",
        "An owner of {account} can let this server in on GitHub: by adding its address to the IP "
        "allow list, or by what the sentence below names. Then press Sync now.",
        "a policy of {account} keeps the App out.",
        INSTALLATION,
    ),
    Repository.Trouble.DENIED.value: Words(
        "Sync is blocked: GitHub refuses the App access to {repository}.",
        "Check on GitHub that the App may read contents and that no new permission waits to be "
        "accepted. Then press Sync now.",
        "GitHub refuses the App.",
        INSTALLATION,
    ),
    Repository.Trouble.APP.value: Words(
        "Sync is blocked: GitHub does not accept this server's GitHub App.",
        "The administrator of this server should open its connection doctor, at /doctor: it names "
        "what is wrong with the App's number, its private key or the server's clock. Then press "
        "Sync now.",
        "GitHub does not accept this server's GitHub App.",
    ),
    Repository.Trouble.RATE_LIMITED.value: Words(
        "Sync waits: GitHub limits our requests.",
        "There is nothing to do: it goes on by itself.",
        "GitHub limits our requests.",
    ),
    Repository.Trouble.UNAVAILABLE.value: Words(
        "Sync waits: GitHub gave no usable answer.",
        "It is tried again by itself. If it stays so, the administrator of this server should "
        "check its connection to GitHub.",
        "GitHub gives no usable answer.",
    ),
    Repository.Trouble.DISK_FULL.value: Words(
        "Sync waits: the disk of this server is full.",
        "The administrator of this server should free space on it. It then goes on by itself.",
        "the disk of this server is full.",
    ),
    Repository.Trouble.GIT.value: Words(
        "Sync waits: git cannot do its work on this server.",
        "GitHub is not to blame. The administrator of this server should mend what the sentence "
        "below names. It then goes on by itself.",
        "git cannot do its work on this server.",
    ),
}


@dataclass(frozen=True)
class Trouble:
    """Why the page is not as fresh as it should be.

    `kind` is a key of WORDS; `said` quotes GitHub; `page` leads to where at GitHub it can be ended
    and `page_name` says what that is.
    """

    kind: str
    title: str
    advice: str
    cause: str
    said: str
    since: datetime | None
    retry_at: datetime | None
    page: str
    page_name: str

    @property
    def is_passing(self) -> bool:
        """Whether it ends without anybody doing anything."""
        return self.kind in Repository.PASSING_TROUBLES

    @property
    def needs_installing(self) -> bool:
        """Whether the App has to be installed, again or elsewhere."""
        return self.kind in {UNINSTALLED, Repository.Trouble.MOVED.value}

    @property
    def needs_another(self) -> bool:
        """Whether another repository has to take its place, unless GitHub restores it."""
        return self.kind == Repository.Trouble.DELETED

    @property
    def is_for_managers(self) -> bool:
        """Whether owners and admins of the workspace can end it, or know who can."""
        return bool(self.page_name) or self.needs_installing or self.needs_another


def trouble_of(repository: Repository) -> Trouble | None:
    """What is the matter, or None. No query when the installation was selected."""
    kind = _kind(repository)
    if not kind:
        return None
    words, installation = WORDS[kind], repository.installation
    names = {
        "account": installation.account_login,
        "repository": repository.full_name,
        "owner": repository.owner,
    }
    is_permission = kind == Repository.Trouble.PERMISSION
    return Trouble(
        kind=kind,
        title=words.title.format(**names),
        advice=words.advice.format(**names),
        cause=words.cause.format(**names),
        said=repository.trouble_reason,
        since=repository.trouble_since or installation.removed_at or installation.suspended_at,
        retry_at=repository.retry_at,
        page=installation.permissions_page if is_permission else installation.page,
        page_name=words.page,
    )


def _kind(repository: Repository) -> str:
    if repository.installation.removed_at and repository.trouble != Repository.Trouble.MOVED:
        return UNINSTALLED
    if repository.installation.suspended_at:
        return SUSPENDED
    return repository.trouble
