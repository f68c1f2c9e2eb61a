"""What GitHub says of the App itself: JSON objects → frozen dataclasses."""

from dataclasses import dataclass, field
from datetime import datetime

from rollouts_app.github.shapes import Json, moment, number, text, words


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
class NewAppFacts:
    """An App that was just registered, with the secrets that GitHub shows this once."""

    id: int
    slug: str
    name: str
    owner: str
    is_of_organization: bool
    client_id: str
    client_secret: str = field(repr=False)
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)


def read_app(answer: Json) -> AppFacts:
    """https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app"""
    return AppFacts(
        id=number(answer["id"]),
        slug=text(answer.get("slug")),
        name=text(answer["name"]),
        page=text(answer.get("html_url")),
        permissions=words(answer.get("permissions")),
        events=tuple(text(event) for event in answer.get("events") or ()),
    )


def read_delivery(answer: Json) -> DeliveryFacts:
    """https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook"""
    delivered_at = moment(answer["delivered_at"])
    if delivered_at is None:
        raise ValueError("a delivery without a time")
    return DeliveryFacts(
        id=number(answer["id"]),
        guid=text(answer["guid"]),
        event=text(answer["event"]),
        action=text(answer.get("action")),
        delivered_at=delivered_at,
        status_code=number(answer["status_code"]),
        repository_id=number(answer.get("repository_id") or 0),
        installation_id=number(answer.get("installation_id") or 0),
    )


def read_new_app(answer: Json) -> NewAppFacts:
    """https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest"""
    return NewAppFacts(
        id=number(answer["id"]),
        slug=text(answer["slug"]),
        name=text(answer["name"]),
        owner=text(answer["owner"]["login"]),
        is_of_organization=answer["owner"].get("type") == "Organization",
        client_id=text(answer["client_id"]),
        client_secret=text(answer["client_secret"]),
        private_key=text(answer["pem"]),
        webhook_secret=text(answer["webhook_secret"]),
    )


def read_hook(answer: Json) -> HookFacts:
    """https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app"""
    return HookFacts(
        url=text(answer.get("url")),
        content_type=text(answer.get("content_type")),
        has_secret=bool(answer.get("secret")),
    )
