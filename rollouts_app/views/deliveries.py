"""The delivery log: what GitHub told us of the repository, and what came of it."""

from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from rollouts_app import addresses, github_app
from rollouts_app.models import SyncRun, WebhookDelivery
from rollouts_app.models.syncs import KEPT
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked, text_asked
from rollouts_app.views.fragments import page

DELIVERIES_A_PAGE = 50
# How often a log without a line looks for the first one.
PATIENT_SECONDS = 15
LONGEST_NUMBER = 18


@require_safe
@workspace_page
def delivery_list(request: WorkspaceRequest) -> HttpResponse:
    """The log, filtered by `?event=` and `?sync=` (the run that was asked for), and paged."""
    repository = repository_asked(request)
    log = WebhookDelivery.objects.concerning(repository)
    events = list(log.order_by("event").values_list("event", flat=True).distinct())
    event, run = text_asked(request, "event"), _run_asked(request)
    found = log.for_log()
    found = found.filter(event=event) if event else found
    found = found.filter(run=run) if run else found
    context = {
        "repository": repository,
        "events": events,
        "event": event,
        "sync": run,
        "pages": Paginator(found, DELIVERIES_A_PAGE).get_page(request.GET.get("page")),
        "webhook_url": f"{settings.PUBLIC_URL}{reverse('github-webhook')}",
        "app_page": addresses.app_deliveries_page(
            settings.GITHUB_URL, github_app.credentials().slug
        ),
        "kept_days": KEPT.days,
        "poll_seconds": None if events else PATIENT_SECONDS,
    }
    response = page(request, "git/deliveries.html", context, "log")
    if request.htmx.trigger == "filters":
        asked = {"event": event, "sync": run.pk if run else ""}
        query = urlencode({name: value for name, value in asked.items() if value})
        replace_url(response, f"{request.path}?{query}" if query else request.path)
    return response


def _run_asked(request: WorkspaceRequest) -> SyncRun | None:
    """The run of `?sync=`, where the repository has it."""
    number = text_asked(request, "sync")
    if not number.isdecimal() or len(number) > LONGEST_NUMBER:
        return None
    return repository_asked(request).sync_runs.for_history().filter(pk=int(number)).first()
