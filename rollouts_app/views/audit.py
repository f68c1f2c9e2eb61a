"""The audit log: a workspace's for its owners, the server's for its administrators."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Max
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from rollouts_app.models import AuditEvent
from rollouts_app.models.audit import AuditEventQuerySet
from rollouts_app.templatetags.rollouts import visible
from rollouts_app.views.access import (
    PersonRequest,
    WorkspaceRequest,
    administrator_page,
    owner_page,
)
from rollouts_app.views.fragments import page

EVENTS_A_PAGE = 50
ROWS_AT_ONCE = 500
LONGEST_NUMBER = 18
# Whoever has no number among the people: what the server did itself.
SERVER = "server"
COLUMNS = ("Time", "Person", "GitHub login", "Deed", "Subject", "Details", "Workspace")
# A cell that begins so is a formula to spreadsheets.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True)
class Choice:
    """One value of a filter, as a menu offers it."""

    value: str
    label: str


@dataclass(frozen=True)
class Filters:
    """What `?deed=` and `?person=` ask for; empty where they ask for nothing."""

    deed: str
    person: str

    def of(self, events: AuditEventQuerySet) -> AuditEventQuerySet:
        """The events that pass."""
        if self.deed:
            events = events.filter(deed=self.deed)
        if self.person == SERVER:
            events = events.filter(actor=None)
        elif self.person:
            events = events.filter(actor=int(self.person))
        return events

    @property
    def query(self) -> str:
        """Those that are set as part of an address, with the question mark."""
        asked = {"deed": self.deed, "person": self.person}
        query = urlencode({name: value for name, value in asked.items() if value})
        return f"?{query}" if query else ""


@require_safe
@owner_page
def audit_log(request: WorkspaceRequest) -> HttpResponseBase:
    """What happened in the workspace, the newest first."""
    events = AuditEvent.objects.of_workspace(request.workspace)
    return _log(request, events, request.workspace.slug, "workspace.html")


@require_safe
@administrator_page
def server_audit_log(request: PersonRequest) -> HttpResponseBase:
    """What happened to the server itself, the newest first."""
    return _log(request, AuditEvent.objects.of_server(), SERVER, "base.html")


def _log(
    request: PersonRequest, events: AuditEventQuerySet, name: str, layout: str
) -> HttpResponseBase:
    filters = _filters_asked(request)
    found = filters.of(events).for_log()
    if request.GET.get("format") == "csv":
        return _csv(found, f"audit-log-{name}.csv")
    context: dict[str, Any] = {
        "layout": layout,
        "pages": Paginator(found, EVENTS_A_PAGE).get_page(request.GET.get("page")),
        "filters": filters,
        "deeds": [str(deed) for deed in AuditEvent.Deed],
        "people": _people(events),
        "csv_query": urlencode({"deed": filters.deed, "person": filters.person, "format": "csv"}),
    }
    response = page(request, "audit.html", context, "log")
    if request.htmx.trigger == "filters":
        replace_url(response, f"{request.path}{filters.query}")
    return response


def _filters_asked(request: PersonRequest) -> Filters:
    """The filters of the address; values that mean nothing are left out."""
    deed, person = request.GET.get("deed", ""), request.GET.get("person", "")
    is_number = person.isascii() and person.isdecimal() and len(person) <= LONGEST_NUMBER
    return Filters(
        deed=deed if deed in set(AuditEvent.Deed) else "",
        person=person if is_number or person == SERVER else "",
    )


def _people(events: AuditEventQuerySet) -> list[Choice]:
    """Everybody who did something, by the name they had when they last did."""
    latest = events.order_by().values("actor").annotate(latest=Max("id")).values("latest")
    known = AuditEvent.objects.filter(pk__in=latest).for_log()
    choices = [
        Choice(str(event.actor_id), f"{event.actor_name} ({event.login})".replace(" ()", ""))
        if not event.is_of_server
        else Choice(SERVER, "The server")
        for event in known
    ]
    return sorted(choices, key=lambda choice: choice.label.lower())


def _csv(events: AuditEventQuerySet, name: str) -> StreamingHttpResponse:
    """All of them as a file that is written while it is read from the database."""
    return StreamingHttpResponse(
        _csv_lines(events),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


class _Line:
    """A file whose `write` gives the line back."""

    def write(self, text: str) -> str:
        return text


def _csv_lines(events: AuditEventQuerySet) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for event in events.iterator(chunk_size=ROWS_AT_ONCE):
        yield writer.writerow(
            harmless(cell)
            for cell in (
                event.at.isoformat(timespec="seconds"),
                event.actor_name or "The server",
                event.login,
                event.deed,
                event.subject,
                "; ".join(event.lines),
                event.workspace_slug,
            )
        )


def harmless(cell: str) -> str:
    """The text as spreadsheets show it, and never run it.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    shown = visible(cell)
    return f"'{shown}" if shown.lstrip(" ").startswith(FORMULA_STARTS) else shown
