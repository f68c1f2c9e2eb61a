"""The facts that come out of GitHub's REST answers, as frozen dataclasses.

Each `read_…` function takes one decoded JSON object; a field that is missing or of another type
raises KeyError, TypeError or ValueError, which the client turns into `Unavailable`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class UserFacts:
    """A person, or who else has an account: `type` is User, Organization or Bot.

    `name` and `email` are empty where GitHub does not tell.
    """

    id: int
    login: str
    name: str
    email: str
    avatar_url: str
    type: str


@dataclass(frozen=True)
class PermissionFacts:
    """What somebody may do with a repository: "admin", "write", "read" or "none".

    `user_id` is the number of whom GitHub took the login for; 0 where it does not tell.
    """

    user_id: int
    permission: str

    @property
    def may_read(self) -> bool:
        return self.permission != "none"


@dataclass(frozen=True)
class InstallationFacts:
    """The App on one account. `suspended_at` is None while it may work, `page` its settings."""

    id: int
    account_id: int
    account_login: str
    account_type: str
    repository_selection: str
    permissions: dict[str, str]
    events: tuple[str, ...]
    suspended_at: datetime | None
    created_at: datetime | None
    page: str

    @property
    def is_suspended(self) -> bool:
        """Whether GitHub refuses tokens for it until somebody unsuspends it."""
        return self.suspended_at is not None


@dataclass(frozen=True)
class RequestFacts:
    """Somebody's request to have the App on an account they do not own, not yet answered."""

    id: int
    account_id: int
    account_login: str
    person_id: int


@dataclass(frozen=True)
class RepositoryFacts:
    """A repository. `id` outlives renames and transfers, `full_name` does not.

    `permissions` says what the asking user may do ("admin", "push", "pull", …); it is empty where
    GitHub does not tell.
    """

    id: int
    owner_id: int
    owner_login: str
    name: str
    full_name: str
    default_branch: str
    private: bool
    archived: bool
    disabled: bool
    permissions: dict[str, bool]


@dataclass(frozen=True)
class RateFacts:
    """How many requests one caller has left until `reset_at`, when all of them are there again."""

    limit: int
    remaining: int
    reset_at: datetime


@dataclass(frozen=True)
class InstallationToken:
    """A token of one installation, good until `expires_at` (UTC, an hour at most)."""

    token: str = field(repr=False)
    expires_at: datetime
    permissions: dict[str, str]
    repository_selection: str


def read_user(answer: Json) -> UserFacts:
    """https://docs.github.com/en/rest/users/users#get-the-authenticated-user"""
    return UserFacts(
        id=number(answer["id"]),
        login=text(answer["login"]),
        name=text(answer.get("name")),
        email=text(answer.get("email")),
        avatar_url=text(answer.get("avatar_url")),
        type=text(answer.get("type")),
    )


def read_permission(answer: Json) -> PermissionFacts:
    """https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user"""
    permission = text(answer["permission"])
    if not permission:
        raise ValueError("an empty permission")
    user = answer.get("user") or {}
    return PermissionFacts(user_id=number(user.get("id", 0)), permission=permission)


def read_installation(answer: Json) -> InstallationFacts:
    """https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app

    The account is null when it has been deleted; an enterprise has a slug in place of a login.
    """
    account = answer["account"] or {}
    return InstallationFacts(
        id=number(answer["id"]),
        account_id=number(account.get("id", 0)),
        account_login=text(account.get("login") or account.get("slug")),
        account_type=text(account.get("type") or answer.get("target_type")),
        repository_selection=text(answer.get("repository_selection")),
        permissions=words(answer.get("permissions")),
        events=tuple(text(event) for event in answer.get("events") or ()),
        suspended_at=moment(answer.get("suspended_at")),
        created_at=moment(answer.get("created_at")),
        page=text(answer.get("html_url")),
    )


def read_request(answer: Json) -> RequestFacts:
    """https://docs.github.com/en/rest/apps/apps#list-installation-requests-for-the-authenticated-app"""
    account = answer["account"]
    return RequestFacts(
        id=number(answer["id"]),
        account_id=number(account["id"]),
        account_login=text(account.get("login") or account.get("slug")),
        person_id=number(answer["requester"]["id"]),
    )


def read_repository(answer: Json) -> RepositoryFacts:
    """https://docs.github.com/en/rest/repos/repos#get-a-repository"""
    permissions = answer.get("permissions") or {}
    return RepositoryFacts(
        id=number(answer["id"]),
        owner_id=number(answer["owner"]["id"]),
        owner_login=text(answer["owner"]["login"]),
        name=text(answer["name"]),
        full_name=text(answer["full_name"]),
        default_branch=text(answer.get("default_branch")),
        private=bool(answer["private"]),
        archived=bool(answer.get("archived")),
        disabled=bool(answer.get("disabled")),
        permissions={text(name): bool(allowed) for name, allowed in permissions.items()},
    )


def read_token(answer: Json) -> InstallationToken:
    """https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app"""
    expires_at = moment(answer["expires_at"])
    if not answer["token"] or expires_at is None:
        raise ValueError("an empty token")
    return InstallationToken(
        token=text(answer["token"]),
        expires_at=expires_at,
        permissions=words(answer.get("permissions")),
        repository_selection=text(answer.get("repository_selection")),
    )


def read_rate(answer: Json) -> RateFacts:
    """https://docs.github.com/en/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user"""
    core = answer["resources"]["core"]
    return RateFacts(
        limit=number(core["limit"]),
        remaining=number(core["remaining"]),
        reset_at=datetime.fromtimestamp(number(core["reset"]), UTC),
    )


def number(value: object) -> int:
    """A whole number as it is. Raises TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number")
    return value


def text(value: object) -> str:
    """A text, empty for null. Raises TypeError for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def words(value: Json | None) -> dict[str, str]:
    """An object of texts, empty for null. Raises TypeError for anything else."""
    return {text(name): text(level) for name, level in (value or {}).items()}


def moment(value: object) -> datetime | None:
    """GitHub writes times as ISO 8601 or, in older shapes, as seconds since 1970."""
    if value is None:
        return None
    try:
        if isinstance(value, int):
            return datetime.fromtimestamp(value, UTC)
        at = datetime.fromisoformat(text(value))
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (OverflowError, OSError):
        raise ValueError(f"{value!r} is no time that there is") from None
