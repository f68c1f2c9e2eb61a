"""The addresses below /api/cli/, without trailing slashes."""

from django.urls import path

from rollouts_app.cli_api import elsewhere, rollouts, sign_in, workspaces

urlpatterns = [
    path("device/authorize", sign_in.device_authorize, name="cli-device-authorize"),
    path("device/token", sign_in.device_token, name="cli-device-token"),
    path("verify", sign_in.verify, name="cli-verify"),
    path("tokens/<slug:token_id>", sign_in.token_revoke, name="cli-token-revoke"),
    path("workspaces", workspaces.workspaces, name="cli-workspaces"),
    path("quickstart", workspaces.quickstart, name="cli-quickstart"),
    path("rollouts", rollouts.rollouts, name="cli-rollouts"),
    path("<path:rest>", elsewhere.elsewhere, name="cli-elsewhere"),
]
