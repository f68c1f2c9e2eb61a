"""GitHub's door."""

import json
import logging
import time
from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from rollouts_app import github_app, tracing
from rollouts_app.catalog import json_safe
from rollouts_app.github import is_genuine
from rollouts_app.models import WebhookDelivery
from rollouts_app.sync import events, hearing

log = logging.getLogger(__name__)

FORM = "application/x-www-form-urlencoded"
WRONG_TYPE = (
    "This delivery is a form, and this server reads JSON. In the settings of the GitHub App, under "
    "Webhook, choose application/json as the content type; then deliver it again."
)


@csrf_exempt
@login_not_required
@require_POST
def github_webhook(request: HttpRequest) -> HttpResponse:
    """Store a genuine delivery with what it asks for in one transaction, and answer at once.

    401 without a genuine signature, 202 for a new delivery, 200 for one that is known already, 415
    for a form, which GitHub sends where the webhook's content type is not JSON.
    https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks
    """
    signature = request.headers.get("X-Hub-Signature-256")
    app = github_app.known()
    secrets = app.webhook_secrets if app else ()
    if not any(is_genuine(request.body, signature, secret) for secret in secrets):
        log.warning("Refused a webhook delivery: its signature is not ours.")
        hearing.note_refused(request.headers)
        return HttpResponse("The signature does not fit the webhook secret.", status=401)
    if request.content_type == FORM:
        hearing.note_form()
        return HttpResponse(WRONG_TYPE, status=415, content_type="text/plain")
    payload = _payload(request)
    delivery_id = request.headers.get("X-GitHub-Delivery", "")
    if payload is None or not 0 < len(delivery_id) <= 64:
        return HttpResponse("A JSON object and X-GitHub-Delivery are needed.", status=400)
    tracing.bind(delivery=delivery_id)
    outcome = _take_in(delivery_id, request.headers.get("X-GitHub-Event", "")[:64], payload)
    if outcome is None:
        return HttpResponse("This delivery is known already.", status=200)
    return HttpResponse(outcome, status=202, content_type="text/plain")


@transaction.atomic
def _take_in(delivery_id: str, event: str, payload: dict[str, Any]) -> str | None:
    """Store the delivery and all it asks for, or nothing of it. None when it is known already."""
    begun = time.monotonic()
    action = str(payload.get("action") or "")[:64]
    delivery, is_new = WebhookDelivery.objects.get_or_create(
        delivery_id=delivery_id, defaults={"event": event, "action": action}
    )
    if not is_new and not delivery.arrive():
        return None
    outcome = events.receive(event, payload)
    delivery.outcome = outcome.text
    delivery.repository, delivery.run = outcome.repository, outcome.run
    delivery.installation = outcome.installation
    delivery.took = timedelta(seconds=time.monotonic() - begun)
    delivery.save(update_fields=["outcome", "repository", "installation", "run", "took"])
    tracing.bind(repository=delivery.repository_id, run=delivery.run_id)
    return outcome.text


def _payload(request: HttpRequest) -> dict[str, Any] | None:
    """The body's object, without what PostgreSQL refuses; None when there is none."""
    try:
        payload = json.loads(request.body)
    except (ValueError, RecursionError):
        return None
    return json_safe(payload) if isinstance(payload, dict) else None
