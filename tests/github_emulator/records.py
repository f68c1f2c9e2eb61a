"""What the emulator remembers: plain records, kept as JSON. Repository content lies in git."""

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["owner", "member"]
Selection = Literal["all", "selected"]
Permission = Literal["read", "write", "admin"]
Policy = Literal["ip allow list", "saml"]


@dataclass
class Account:
    """A person or an organization. Times of all records are seconds since 1970.

    A policy of an organization keeps out those who do not meet it, whatever they may do else.
    """

    id: int
    login: str
    type: Literal["User", "Organization"]
    name: str
    email: str | None
    created_at: float
    members: dict[int, Role] = field(default_factory=dict)
    base_permission: Permission = "write"
    policy: Policy | None = None


@dataclass
class Repository:
    """A repository's facts; `former_names` are the full names that redirect here."""

    id: int
    owner_id: int
    name: str
    private: bool
    default_branch: str
    created_at: float
    updated_at: float
    pushed_at: float
    description: str | None = None
    archived: bool = False
    collaborators: dict[int, Permission] = field(default_factory=dict)
    former_names: list[str] = field(default_factory=list)


@dataclass
class Installation:
    """The App on an account. With selection "all" the list of repositories is not looked at."""

    id: int
    account_id: int
    selection: Selection
    repository_ids: list[int]
    permissions: dict[str, str]
    events: list[str]
    created_at: float
    updated_at: float
    suspended_at: float | None = None
    suspended_by: int | None = None


@dataclass
class InstallationRequest:
    """Somebody's wish, not yet answered, to have the App on an organization they do not own."""

    id: int
    account_id: int
    requester_id: int
    created_at: float


@dataclass
class App:
    """The one GitHub App of this emulator. Addresses may be set at any time.

    `conversion_code` is what its credentials are had for, once, after it came from a manifest.
    """

    id: int
    slug: str
    name: str
    client_id: str
    client_secret: str
    private_key: str
    webhook_secret: str
    created_at: float
    webhook_url: str | None = None
    webhook_content_type: str = "json"
    callback_urls: list[str] = field(default_factory=list)
    setup_url: str | None = None
    permissions: dict[str, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    owner_id: int = 0
    conversion_code: str | None = None


@dataclass
class Token:
    """A credential. `subject` is the installation's id, else the person's."""

    value: str
    kind: Literal["installation", "user", "refresh"]
    subject: int
    expires_at: float
    permissions: dict[str, str] = field(default_factory=dict)
    repository_ids: list[int] | None = None


@dataclass
class Grant:
    """A one-time OAuth code, waiting to be exchanged."""

    code: str
    user_id: int
    redirect_uri: str
    challenge: str | None
    expires_at: float
