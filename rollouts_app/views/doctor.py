"""The connection doctor, for the server's administrators."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rollouts_app.doctor import Seen, diagnose, facts_now, report
from rollouts_app.views.access import PersonRequest, administrator_page


@require_safe
@administrator_page
def doctor(request: PersonRequest) -> HttpResponse:
    """Look at everything now, within a few seconds, and say how it is."""
    headers = request.headers
    seen = Seen(
        address=f"{request.scheme}://{request.get_host()}",
        forwarded_for="X-Forwarded-For" in headers,
        forwarded_proto=headers.get("X-Forwarded-Proto", ""),
        forwarded_host=headers.get("X-Forwarded-Host", ""),
    )
    facts = facts_now(seen)
    lines = diagnose(facts)
    context = {
        "lines": lines,
        "wrong": sum(line.state == "bad" for line in lines),
        "doubtful": sum(line.state == "warning" for line in lines),
        "looked_at": facts.now,
        "report": report(lines),
    }
    response = render(request, "doctor.html", context)
    response["Cache-Control"] = "no-store"
    return response
