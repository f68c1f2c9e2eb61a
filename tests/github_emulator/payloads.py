"""The bodies of webhooks. This is the only place where they are written down.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .bare import NOTHING
from .reading import Commit, Person
from .records import Account, App, Installation, Repository
from .shapes import Json, Shapes, node_id, timestamp

MOST_COMMITS = 2048
# Every event the emulator sends, with its action, as GitHub's description of webhooks names them.
SENT = {
    *("create", "delete", "push", "ping", "meta-deleted", "github-app-authorization-revoked"),
    *(f"installation-{action}" for action in ("created", "deleted", "suspend", "unsuspend")),
    "installation-new-permissions-accepted",
    *(f"installation-repositories-{action}" for action in ("added", "removed")),
    "installation-target-renamed",
    *(f"repository-{action}" for action in ("archived", "created", "deleted", "edited")),
    *(f"repository-{action}" for action in ("privatized", "publicized", "renamed")),
    *(f"repository-{action}" for action in ("transferred", "unarchived")),
}


@dataclass(frozen=True)
class RefChange:
    """What a push did to one ref: full name, old and new object id (40 zeros for none)."""

    ref: str
    before: str
    after: str

    @property
    def short(self) -> str:
        """The name of the branch or tag."""
        return self.ref.split("/", 2)[2]

    @property
    def ref_type(self) -> str:
        """`branch` or `tag`."""
        return "branch" if self.ref.startswith("refs/heads/") else "tag"

    @property
    def created(self) -> bool:
        """Whether the ref is new."""
        return self.before == NOTHING

    @property
    def deleted(self) -> bool:
        """Whether the ref is gone."""
        return self.after == NOTHING


@dataclass(frozen=True)
class Pushed:
    """What a push event says beyond the ref: new commits (oldest first), the tip, how it moved."""

    commits: Sequence[Commit]
    head: Commit | None
    forced: bool
    base_ref: str | None


def common(
    shapes: Shapes, repository: Repository, sender: Account, installation: Installation
) -> Json:
    """What every repository event carries."""
    owner = shapes.state.accounts[repository.owner_id]
    organization = {}
    if owner.type == "Organization":
        organization["organization"] = shapes.organization(owner)
    return {
        "repository": shapes.repository(repository),
        **organization,
        "sender": shapes.account(sender),
        "installation": {
            "id": installation.id,
            "node_id": node_id("IntegrationInstallation", installation.id),
        },
    }


def push(shapes: Shapes, change: RefChange, pushed: Pushed, rest: Json, pusher: Account) -> Json:
    """`push`. `rest` is from `common`; here some of the repository's times are numbers."""
    repository, owner = rest["repository"], rest["repository"]["owner"]
    record = shapes.state.repositories[repository["id"]]
    account = shapes.state.accounts[record.owner_id]
    page = repository["html_url"]
    commits = [_commit(page, commit) for commit in pushed.commits]
    return {
        "ref": change.ref,
        "before": change.before,
        "after": change.after,
        **rest,
        "repository": {
            **repository,
            "owner": {**owner, "name": account.login, "email": account.email},
            "url": page,
            "created_at": int(record.created_at),
            "pushed_at": int(record.pushed_at),
            "stargazers": 0,
            "master_branch": record.default_branch,
            **({"organization": account.login} if "organization" in rest else {}),
        },
        "pusher": {"name": pusher.login, "email": pusher.email},
        "created": change.created,
        "deleted": change.deleted,
        "forced": pushed.forced,
        "base_ref": pushed.base_ref,
        "compare": _compare(page, change, pushed),
        "commits": commits[-MOST_COMMITS:],
        "head_commit": _commit(page, pushed.head) if pushed.head else None,
    }


def create(change: RefChange, rest: Json) -> Json:
    """`create`: a new branch or tag; the name comes without `refs/heads/`."""
    return {
        "ref": change.short,
        "ref_type": change.ref_type,
        "master_branch": rest["repository"]["default_branch"],
        "description": rest["repository"]["description"],
        "pusher_type": "user",
        **rest,
    }


def delete(change: RefChange, rest: Json) -> Json:
    """`delete`: a branch or tag is gone."""
    return {"ref": change.short, "ref_type": change.ref_type, "pusher_type": "user", **rest}


def repository_event(action: str, rest: Json, changes: Json | None = None) -> Json:
    """`repository`; `changes` says what it was before."""
    return {"action": action, **({"changes": changes} if changes else {}), **rest}


def installation(
    shapes: Shapes,
    action: str,
    record: Installation,
    sender: Account,
    repositories: Sequence[Repository] | None,
    requester: Account | None = None,
) -> Json:
    """`installation`. Without repositories the key is missing, as in suspend and unsuspend.

    `requester` is who had asked for an App that an owner installed.
    """
    listed = {}
    if repositories is not None:
        listed["repositories"] = [shapes.repository_name(r) for r in repositories]
    asked = {"requester": shapes.account(requester) if requester else None}
    shape = shapes.installation(record)
    return {
        "action": action,
        "installation": shape,
        **listed,
        **(asked if action == "created" else {}),
        "sender": shapes.account(sender),
    }


def installation_repositories(
    shapes: Shapes,
    record: Installation,
    sender: Account,
    added: Sequence[Repository],
    removed: Sequence[Repository],
) -> Json:
    """`installation_repositories`: access was given to some, or taken away."""
    return {
        "action": "added" if added else "removed",
        "installation": shapes.installation(record),
        "repository_selection": record.selection,
        "repositories_added": [shapes.repository_name(r) for r in added],
        "repositories_removed": [shapes.repository_name(r) for r in removed],
        "requester": None,
        "sender": shapes.account(sender),
    }


def installation_target(
    shapes: Shapes, record: Installation, account: Account, former: str, sender: Account
) -> Json:
    """`installation_target`: the account of an installation has a new login."""
    return {
        "action": "renamed",
        "account": shapes.account(account),
        "changes": {"login": {"from": former}},
        "installation": {
            "id": record.id,
            "node_id": node_id("IntegrationInstallation", record.id),
        },
        "sender": shapes.account(sender),
        "target_type": account.type,
    }


def ping(app: App, now: float) -> Json:
    """`ping`: the App's webhook address was set."""
    hook = {**_hook(app, now), "app_id": app.id}
    return {"zen": "Keep it logically awesome.", "hook_id": app.id, "hook": hook}


def meta_deleted(app: App, now: float, sender: Account, shapes: Shapes) -> Json:
    """`meta`: the App's webhook was deleted."""
    hook = _hook(app, now)
    return {
        "action": "deleted",
        "hook_id": app.id,
        "hook": hook,
        "sender": shapes.account(sender),
    }


def authorization_revoked(shapes: Shapes, person: Account) -> Json:
    """`github_app_authorization`: a person takes back what they let the App do for them."""
    return {"action": "revoked", "sender": shapes.account(person)}


def _hook(app: App, now: float) -> Json:
    config = {"content_type": "json", "insecure_ssl": "0", "secret": "********"}
    return {
        "type": "App",
        "id": app.id,
        "name": "web",
        "active": True,
        "events": app.events,
        "config": {**config, "url": app.webhook_url or ""},
        "updated_at": timestamp(now),
        "created_at": timestamp(app.created_at),
    }


def _compare(page: str, change: RefChange, pushed: Pushed) -> str:
    if change.deleted or (change.created and not pushed.commits):
        return f"{page}/compare/{(change.before if change.deleted else change.after)[:12]}"
    if change.created:
        return f"{page}/compare/{pushed.commits[0].id[:12]}^...{change.after[:12]}"
    return f"{page}/compare/{change.before[:12]}...{change.after[:12]}"


def _commit(page: str, commit: Commit) -> Json:
    return {
        "id": commit.id,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message,
        "timestamp": commit.committer.date,
        "url": f"{page}/commit/{commit.id}",
        "author": _person(commit.author),
        "committer": _person(commit.committer),
        "added": commit.added,
        "removed": commit.removed,
        "modified": commit.modified,
    }


def _person(person: Person) -> Json:
    return {"name": person.name, "email": person.email}
