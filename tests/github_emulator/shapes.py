"""The JSON objects of GitHub's API, as its OpenAPI description names their fields.

https://docs.github.com/en/rest
"""

import base64
from datetime import UTC, datetime
from typing import Any

from .records import Account, Installation, Permission, Repository
from .state import State

Json = dict[str, Any]

# Addresses below a repository's API address: name of the field → what is appended.
REPOSITORY_ADDRESSES = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
USER_ADDRESSES = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
COUNTERS = ("forks", "forks_count", "open_issues", "open_issues_count", "stargazers_count")


def timestamp(seconds: float) -> str:
    """GitHub's way to write a time: whole seconds, UTC, with a Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(kind: str, number: int) -> str:
    """An opaque id; only its being stable matters."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


class Shapes:
    """Makes the objects, with addresses that start with `url` (the emulator's own)."""

    def __init__(self, url: str, state: State) -> None:
        self.url = url
        self.api = f"{url}/api/v3"
        self.state = state

    def account(self, account: Account) -> Json:
        """`simple-user`: a person or an organization."""
        own = f"{self.api}/users/{account.login}"
        return {
            "login": account.login,
            "id": account.id,
            "node_id": node_id(account.type, account.id),
            "avatar_url": f"{self.url}/avatars/u/{account.id}?v=4",
            "gravatar_id": "",
            "url": own,
            "html_url": f"{self.url}/{account.login}",
            **{field: own + rest for field, rest in USER_ADDRESSES.items()},
            "type": account.type,
            "user_view_type": "public",
            "site_admin": False,
        }

    def person(self, account: Account) -> Json:
        """`public-user`: somebody with their profile."""
        return {
            **self.account(account),
            "name": account.name,
            "company": None,
            "blog": "",
            "location": None,
            "email": account.email,
            "hireable": None,
            "bio": None,
            "twitter_username": None,
            "public_repos": self._public_repositories(account),
            "public_gists": 0,
            "followers": 0,
            "following": 0,
            "created_at": timestamp(account.created_at),
            "updated_at": timestamp(account.created_at),
        }

    def collaborator(self, person: Account, permission: Permission | None) -> Json:
        """`repository-collaborator-permission`: what somebody may do with a repository."""
        role = permission or "none"
        flags = permissions_object(permission or "read")
        user = {
            **self.account(person),
            "permissions": flags if permission else dict.fromkeys(flags, False),
            "role_name": role,
        }
        return {"permission": role, "role_name": role, "user": user}

    def organization(self, account: Account) -> Json:
        """`organization-simple`."""
        own = f"{self.api}/orgs/{account.login}"
        members = {"members_url": f"{own}/members{{/member}}"}
        return {
            "login": account.login,
            "id": account.id,
            "node_id": node_id("Organization", account.id),
            "url": own,
            "repos_url": f"{own}/repos",
            "events_url": f"{own}/events",
            "hooks_url": f"{own}/hooks",
            "issues_url": f"{own}/issues",
            **members,
            "public_members_url": f"{own}/public_members{{/member}}",
            "avatar_url": f"{self.url}/avatars/u/{account.id}?v=4",
            "description": "",
        }

    def repository(self, repository: Repository, permission: Permission | None = None) -> Json:
        """`repository`, with the rights of whoever asks when `permission` is given."""
        full_name = self.state.full_name(repository)
        own = f"{self.api}/repos/{full_name}"
        page = f"{self.url}/{full_name}"
        host = self.url.split("://", 1)[1]
        shape: Json = {
            "id": repository.id,
            "node_id": node_id("Repository", repository.id),
            "name": repository.name,
            "full_name": full_name,
            "private": repository.private,
            "owner": self.account(self.state.accounts[repository.owner_id]),
            "html_url": page,
            "description": repository.description,
            "fork": False,
            "url": own,
            **{field: own + rest for field, rest in REPOSITORY_ADDRESSES.items()},
            "created_at": timestamp(repository.created_at),
            "updated_at": timestamp(repository.updated_at),
            "pushed_at": timestamp(repository.pushed_at),
            "git_url": f"git://{host}/{full_name}.git",
            "ssh_url": f"git@{host.split(':')[0]}:{full_name}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "homepage": None,
            "size": 1,
            "language": "Python",
            **dict.fromkeys(COUNTERS, 0),
            "watchers": 0,
            "watchers_count": 0,
            "has_issues": True,
            "has_projects": True,
            "has_downloads": True,
            "has_wiki": False,
            "has_pages": False,
            "has_discussions": False,
            "mirror_url": None,
            "archived": repository.archived,
            "disabled": False,
            "license": None,
            "allow_forking": True,
            "is_template": False,
            "web_commit_signoff_required": False,
            "topics": [],
            "visibility": "private" if repository.private else "public",
            "default_branch": repository.default_branch,
        }
        if permission:
            shape["permissions"] = permissions_object(permission)
        return shape

    def full_repository(self, repository: Repository, permission: Permission | None) -> Json:
        """`full-repository`: what one repository's own address answers."""
        owner = self.state.accounts[repository.owner_id]
        shape = self.repository(repository, permission)
        if owner.type == "Organization":
            shape["organization"] = self.account(owner)
        return {**shape, "network_count": 0, "subscribers_count": 0, "temp_clone_token": None}

    def repository_name(self, repository: Repository) -> Json:
        """The five keys that installation events carry for each repository."""
        whole = self.repository(repository)
        return {key: whole[key] for key in ("id", "node_id", "name", "full_name", "private")}

    def installation(self, installation: Installation) -> Json:
        """`installation`."""
        account = self.state.accounts[installation.account_id]
        suspender = self.state.accounts.get(installation.suspended_by or 0)
        suspended_at = installation.suspended_at
        return {
            "id": installation.id,
            "client_id": self.state.app.client_id,
            "account": self.account(account),
            "repository_selection": installation.selection,
            "access_tokens_url": f"{self.api}/app/installations/{installation.id}/access_tokens",
            "repositories_url": f"{self.api}/installation/repositories",
            "html_url": self.url + settings_path(account, installation),
            "app_id": self.state.app.id,
            "app_slug": self.state.app.slug,
            "target_id": account.id,
            "target_type": account.type,
            "permissions": installation.permissions,
            "events": installation.events,
            "created_at": timestamp(installation.created_at),
            "updated_at": timestamp(installation.updated_at),
            "single_file_name": None,
            "has_multiple_single_files": False,
            "single_file_paths": [],
            "suspended_by": self.account(suspender) if suspender else None,
            "suspended_at": None if suspended_at is None else timestamp(suspended_at),
        }

    def app(self) -> Json:
        """`integration`: the App itself. It belongs to the first account, unless one made it."""
        app = self.state.app
        first = next(iter(self.state.accounts.values()), None)
        owner = self.state.accounts.get(app.owner_id, first)
        return {
            "id": app.id,
            "slug": app.slug,
            "client_id": app.client_id,
            "node_id": node_id("Integration", app.id),
            "owner": self.account(owner or _nobody()),
            "name": app.name,
            "description": None,
            "external_url": app.setup_url or self.url,
            "html_url": f"{self.url}/apps/{app.slug}",
            "created_at": timestamp(app.created_at),
            "updated_at": timestamp(app.created_at),
            "permissions": app.permissions,
            "events": app.events,
            "installations_count": len(self.state.installations),
        }

    def _public_repositories(self, account: Account) -> int:
        owned = (r for r in self.state.repositories.values() if r.owner_id == account.id)
        return sum(not repository.private for repository in owned)


def settings_path(account: Account, installation: Installation) -> str:
    """Where an installation is configured: below the organization, or one's own settings."""
    if account.type == "Organization":
        return f"/organizations/{account.login}/settings/installations/{installation.id}"
    return f"/settings/installations/{installation.id}"


def permissions_object(permission: Permission) -> dict[str, bool]:
    """A level of access, as the five flags of a repository's `permissions`."""
    at_least_write = permission in ("write", "admin")
    return {
        "admin": permission == "admin",
        "maintain": permission == "admin",
        "push": at_least_write,
        "triage": at_least_write,
        "pull": True,
    }


def _nobody() -> Account:
    return Account(0, "ghost", "User", "Deleted user", None, 0)
