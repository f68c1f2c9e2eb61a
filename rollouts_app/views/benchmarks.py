"""Where `osmosis quickstart` sends people for benchmarks."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rollouts_app.views.access import WorkspaceRequest, people_page


@require_safe
@people_page
def benchmarks(request: WorkspaceRequest) -> HttpResponse:
    """There are none here, and what there is instead."""
    return render(request, "benchmarks.html")
