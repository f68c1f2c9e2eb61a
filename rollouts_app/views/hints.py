"""What managers should know of how GitHub's deliveries reach this server."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from rollouts_app import github_app
from rollouts_app.addresses import app_page
from rollouts_app.models import Repository
from rollouts_app.sync import hearing

MEANWHILE = "Until then pushes are found by the timer."
WITHOUT_WEBHOOK = "This server works without webhooks."
WITHOUT_WEBHOOK_ADVICE = (
    "The GitHub App was made without one, as for a server that GitHub cannot reach: pushes are "
    "found by the timer, or by Sync now. To change that, switch the webhook on in the App's "
    "settings on GitHub, and have an administrator enter its secret on the Server page."
)

FORMS = "GitHub's deliveries come as forms, and this server reads JSON."
FORMS_ADVICE = (
    "In the App's settings on GitHub, under Webhook, choose application/json as the content type. "
    f"{MEANWHILE}"
)


@dataclass(frozen=True)
class Hint:
    """Something that is not as it should be, though Git Sync goes on: what, since when, what to do.

    `page` leads to the App at GitHub, whose owner finds its settings there.
    """

    title: str
    advice: str
    since: datetime
    page: str


def hints_of(repository: Repository) -> list[Hint]:
    """What is to be said of the webhook; nothing when deliveries come and are genuine."""
    app = github_app.credentials()
    page = app_page(settings.GITHUB_URL, app.slug)
    if not app.has_webhook:
        return [Hint(WITHOUT_WEBHOOK, WITHOUT_WEBHOOK_ADVICE, repository.connected_at, page)]
    refused = hearing.refused()
    if refused:
        title = (
            f"GitHub's deliveries are refused: their signature is wrong ({refused.count} so far)."
        )
        advice = (
            "The webhook secret in the App's settings on GitHub and this server's "
            f"must be the same (GITHUB_APP_WEBHOOK_SECRET, or the Server page). {MEANWHILE}"
        )
        return [Hint(title, advice, refused.since, page)]
    as_forms = hearing.forms_since()
    if as_forms:
        return [Hint(FORMS, FORMS_ADVICE, as_forms, page)]
    if hearing.has_heard_nothing(repository):
        title = "No delivery from GitHub has come yet."
        advice = (
            f"The webhook address in the App's settings on GitHub must be "
            f"{settings.PUBLIC_URL}/webhooks/github, and GitHub must be able to reach it: Recent "
            f"deliveries in those settings tell what happened. {MEANWHILE}"
        )
        return [Hint(title, advice, repository.connected_at, page)]
    return []
