"""Sign-in belongs to allauth, everything else to the app."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("", include("rollouts_app.urls")),
]

handler400 = "rollouts_app.views.failures.bad_request"
handler403 = "rollouts_app.views.failures.forbidden"
handler404 = "rollouts_app.views.failures.not_found"
handler500 = "rollouts_app.views.failures.server_error"
