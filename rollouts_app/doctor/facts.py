"""What the doctor knows before it judges: plain values, asked for in `asking`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rollouts_app.errors import GitHubError
from rollouts_app.github import AppFacts, DeliveryFacts, HookFacts, RateFacts


@dataclass(frozen=True)
class Seen:
    """A request as it came to us, through whatever stands in front.

    `address` is scheme and host as we understand them, `forwarded_for` whether a proxy named a
    caller, `forwarded_proto` and `forwarded_host` what it said.
    """

    address: str
    forwarded_for: bool = False
    forwarded_proto: str = ""
    forwarded_host: str = ""


@dataclass(frozen=True)
class Place:
    """The App on one account, as GitHub last told: what it lacks there, where that is granted."""

    account: str
    lacking: tuple[str, ...]
    page: str
    is_usable: bool


@dataclass(frozen=True)
class Heard:
    """What came to the webhook's door: the last genuine delivery, the last ping, refusals since."""

    last: datetime | None
    ping: datetime | None
    refused: int
    refused_since: datetime | None


@dataclass(frozen=True)
class Queue:
    """The workers' last signs of life, and the jobs whose time has come but that wait."""

    heartbeats: tuple[datetime, ...]
    waiting: int
    oldest: datetime | None


@dataclass(frozen=True)
class Disk:
    """Bytes: what the git caches take, may take, and what is free beside them."""

    caches: int
    limit: int
    free: int


@dataclass(frozen=True)
class Facts:
    """All of it. Where GitHub or this machine gave no answer, why not stands in its place."""

    now: datetime
    public_url: str
    github_url: str
    app_id: str
    app_slug: str
    is_app_from_environment: bool
    has_webhook: bool
    trusted_proxies: int
    seen: Seen | None
    app: AppFacts | GitHubError
    hook: HookFacts | GitHubError
    attempts: tuple[DeliveryFacts, ...] | GitHubError
    ahead: timedelta | None
    heard: Heard
    places: tuple[Place, ...]
    rates: dict[str, RateFacts | GitHubError]
    database_version: int
    database_took: timedelta
    queue: Queue
    git: str | GitHubError
    disk: Disk | GitHubError
