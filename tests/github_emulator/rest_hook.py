"""The API's part about the App's webhook and what was delivered to it.

https://docs.github.com/en/rest/apps/webhooks
"""

from .credentials import Refused
from .finding import number_of
from .rest import Call, api, page_size
from .shapes import Json, timestamp
from .web import Answer, Routes, json_answer, with_query
from .webhooks import COULD_NOT_CONNECT, TIMED_OUT, Delivery

ROUTES = Routes()
CURSOR = "v1_"
OUTCOMES = {"success": range(200, 400), "failure": range(400, 600)}
FAILURES = {COULD_NOT_CONNECT: "failed to connect to host", TIMED_OUT: "timed out"}


@api(ROUTES, "GET", "/app/hook/deliveries")
def deliveries(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook

    Newest first, of the past three days; a cursor names the delivery that a page starts with.
    """
    call.by_app()
    query, size = call.request.query, page_size(call)
    known = call.world.outbox.log.recent(call.world.clock())
    if query.get("status") in OUTCOMES:
        known = [made for made in known if made.status in OUTCOMES[query["status"]]]
    start = _start(known, query.get("cursor", ""))
    others = {}
    if len(known) > start + size:
        others["next"] = known[start + size]
    if start:
        others["prev"] = known[max(0, start - size)]
    address = call.world.url + call.request.path
    links = [
        f'<{with_query(address, {**query, "cursor": f"{CURSOR}{first.number}"})}>; rel="{name}"'
        for name, first in others.items()
    ]
    headers = {"Link": ", ".join(links)} if links else {}
    return json_answer([_delivery(made) for made in known[start : start + size]], headers=headers)


@api(ROUTES, "GET", "/app/hook/deliveries/{number}")
def delivery(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/webhooks#get-a-delivery-for-an-app-webhook"""
    call.by_app()
    made = call.world.delivery(number_of(number))
    request = {"headers": made.headers, "payload": made.payload}
    response: Json = {"headers": {}, "payload": None}
    whole = {**_delivery(made), "request": request, "response": response}
    if call.world.app.webhook_url:
        whole["url"] = call.world.app.webhook_url
    return json_answer(whole)


@api(ROUTES, "POST", "/app/hook/deliveries/{number}/attempts")
def redeliver(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/webhooks#redeliver-a-delivery-for-an-app-webhook

    The new attempt is a delivery of its own, under the same X-GitHub-Delivery.
    """
    call.by_app()
    call.world.redeliver(number_of(number))
    return json_answer({}, 202)


@api(ROUTES, "GET", "/app/hook/config")
def hook_config(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/webhooks
    #get-a-webhook-configuration-for-an-app
    """
    call.by_app()
    config: Json = {"insecure_ssl": "0", "secret": "********"}
    config["content_type"] = call.world.app.webhook_content_type
    if call.world.app.webhook_url:
        config["url"] = call.world.app.webhook_url
    return json_answer(config)


def _start(known: list[Delivery], cursor: str) -> int:
    """Where in the list a page starts. GitHub knows only the cursors it gave out."""
    if not cursor:
        return 0
    if not cursor.startswith(CURSOR):
        raise Refused(400, "Invalid cursor")
    number = number_of(cursor.removeprefix(CURSOR))
    return sum(made.number > number for made in known)


def _delivery(made: Delivery) -> Json:
    """`hook-delivery-item`."""
    status = made.status or 0
    good = 200 <= status < 300
    return {
        "id": made.number,
        "guid": made.id,
        "delivered_at": timestamp(made.sent_at),
        "redelivery": made.redelivery,
        "duration": round(made.duration, 2),
        "status": "OK" if good else FAILURES.get(status, f"Invalid HTTP Response: {status}"),
        "status_code": status,
        "event": made.event,
        "action": made.action,
        "installation_id": made.installation_id,
        "repository_id": made.repository_id,
        "throttled_at": None,
    }
