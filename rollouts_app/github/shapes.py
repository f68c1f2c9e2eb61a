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
class AppFacts:
    """The GitHub App itself. `page` is its public page."""

    id: int
    slug: str
    name: str
    page: str
    permissions: dict[str, str]
    events: tuple[str, ...]


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
    page: str

    @property
    def is_suspended(self) -> bool:
        """Whether GitHub refuses tokens for it until somebody unsuspends it."""
        return self.suspended_at is not None


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
class DeliveryFacts:
    """One attempt to deliver a webhook. `id` is the attempt's, `guid` that of the delivery.

    Repetitions have the guid of what they repeat. `repository_id` and `installation_id` are 0
    where the event is about none.
    """

    id: int
    guid: str
    event: str
    action: str
    delivered_at: datetime
    status_code: int
    repository_id: int
    installation_id: int

    @property
    def has_arrived(self) -> bool:
        """Whether it was taken in."""
        return 200 <= self.status_code < 300


@dataclass(frozen=True)
class HookFacts:
    """Where the App's webhook is delivered; `url` is empty where there is none."""

    url: str
    content_type: str
    has_secret: bool


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


def read_app(answer: Json) -> AppFacts:
    """https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app"""
    return AppFacts(
        id=_number(answer["id"]),
        slug=_text(answer.get("slug")),
        name=_text(answer["name"]),
        page=_text(answer.get("html_url")),
        permissions=_words(answer.get("permissions")),
        events=tuple(_text(event) for event in answer.get("events") or ()),
    )


def read_user(answer: Json) -> UserFacts:
    """https://docs.github.com/en/rest/users/users#get-the-authenticated-user"""
    return UserFacts(
        id=_number(answer["id"]),
        login=_text(answer["login"]),
        name=_text(answer.get("name")),
        email=_text(answer.get("email")),
        avatar_url=_text(answer.get("avatar_url")),
        type=_text(answer.get("type")),
    )


def read_permission(answer: Json) -> PermissionFacts:
    """https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user"""
    permission = _text(answer["permission"])
    if not permission:
        raise ValueError("an empty permission")
    user = answer.get("user") or {}
    return PermissionFacts(user_id=_number(user.get("id", 0)), permission=permission)


def read_installation(answer: Json) -> InstallationFacts:
    """https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app

    The account is null when it has been deleted; an enterprise has a slug in place of a login.
    """
    account = answer["account"] or {}
    return InstallationFacts(
        id=_number(answer["id"]),
        account_id=_number(account.get("id", 0)),
        account_login=_text(account.get("login") or account.get("slug")),
        account_type=_text(account.get("type") or answer.get("target_type")),
        repository_selection=_text(answer.get("repository_selection")),
        permissions=_words(answer.get("permissions")),
        events=tuple(_text(event) for event in answer.get("events") or ()),
        suspended_at=_moment(answer.get("suspended_at")),
        page=_text(answer.get("html_url")),
    )


def read_repository(answer: Json) -> RepositoryFacts:
    """https://docs.github.com/en/rest/repos/repos#get-a-repository"""
    permissions = answer.get("permissions") or {}
    return RepositoryFacts(
        id=_number(answer["id"]),
        owner_id=_number(answer["owner"]["id"]),
        owner_login=_text(answer["owner"]["login"]),
        name=_text(answer["name"]),
        full_name=_text(answer["full_name"]),
        default_branch=_text(answer.get("default_branch")),
        private=bool(answer["private"]),
        archived=bool(answer.get("archived")),
        disabled=bool(answer.get("disabled")),
        permissions={_text(name): bool(allowed) for name, allowed in permissions.items()},
    )


def read_token(answer: Json) -> InstallationToken:
    """https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app"""
    expires_at = _moment(answer["expires_at"])
    if not answer["token"] or expires_at is None:
        raise ValueError("an empty token")
    return InstallationToken(
        token=_text(answer["token"]),
        expires_at=expires_at,
        permissions=_words(answer.get("permissions")),
        repository_selection=_text(answer.get("repository_selection")),
    )


def read_delivery(answer: Json) -> DeliveryFacts:
    """https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook"""
    delivered_at = _moment(answer["delivered_at"])
    if delivered_at is None:
        raise ValueError("a delivery without a time")
    return DeliveryFacts(
        id=_number(answer["id"]),
        guid=_text(answer["guid"]),
        event=_text(answer["event"]),
        action=_text(answer.get("action")),
        delivered_at=delivered_at,
        status_code=_number(answer["status_code"]),
        repository_id=_number(answer.get("repository_id") or 0),
        installation_id=_number(answer.get("installation_id") or 0),
    )


def read_hook(answer: Json) -> HookFacts:
    """https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app"""
    return HookFacts(
        url=_text(answer.get("url")),
        content_type=_text(answer.get("content_type")),
        has_secret=bool(answer.get("secret")),
    )


def read_rate(answer: Json) -> RateFacts:
    """https://docs.github.com/en/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user"""
    core = answer["resources"]["core"]
    return RateFacts(
        limit=_number(core["limit"]),
        remaining=_number(core["remaining"]),
        reset_at=datetime.fromtimestamp(_number(core["reset"]), UTC),
    )


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number")
    return value


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _words(value: Json | None) -> dict[str, str]:
    return {_text(name): _text(level) for name, level in (value or {}).items()}


def _moment(value: object) -> datetime | None:
    """GitHub writes times as ISO 8601 or, in older shapes, as seconds since 1970."""
    if value is None:
        return None
    try:
        if isinstance(value, int):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(_text(value))
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (OverflowError, OSError):
        raise ValueError(f"{value!r} is no time that there is") from None
