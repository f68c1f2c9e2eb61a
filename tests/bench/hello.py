"""The measure: a view that asks the database for one row, behind all that every request passes."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.urls import include, path


@login_not_required
def hello(_request: HttpRequest) -> JsonResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM rollouts_app_user WHERE id = 0")
        return JsonResponse({"hello": cursor.fetchone()[0]})


urlpatterns = [path("api/hello", hello), path("", include("osmosis_web.urls"))]
