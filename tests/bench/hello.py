"""The measure: a page of somebody who is signed in, with one query of its own."""

from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from rollouts_app.models import Workspace


def hello(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"hello": Workspace.objects.count()})


urlpatterns = [path("api/hello", hello), path("", include("osmosis_web.urls"))]
