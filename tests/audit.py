"""Reading the audit log."""

from django.test import Client

from rollouts_app.models import AuditEvent, User
from tests.history import cells
from tests.pages import Page, page_of

LOG = "/acme/audit"


def opened(user: User, address: str) -> Page:
    client = Client()
    client.force_login(user)
    return page_of(client.get(address))


def deeds(page: Page) -> list[list[str]]:
    """Who did what, with which details: the rows of a page without their times."""
    return [row[1:] for row in cells(page)]


def written() -> list[tuple[str, str, str, str]]:
    """Everything that is written down, the oldest first: where, who, what, to what."""
    return list(
        AuditEvent.objects.order_by("id").values_list(
            "workspace_slug", "actor_name", "deed", "subject"
        )
    )
