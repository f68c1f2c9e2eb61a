"""The server's page for its administrators: who may come in, the GitHub App, its secrets."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from rollouts_app import administrators, audit, github_app, github_setup
from rollouts_app.addresses import app_page
from rollouts_app.models import AuditEvent, GitHubApp, ServerSettings, User
from rollouts_app.refusals import NotPossible
from rollouts_app.server_forms import AdministratorForm, PolicyForm, SecretForm
from rollouts_app.views.access import PersonRequest, administrator_page
from rollouts_app.views.setup_first import open_before_setup

RENEWALS = {
    "private_key": github_setup.renew_private_key,
    "client_secret": github_setup.renew_client_secret,
    "webhook_secret": github_setup.renew_webhook_secret,
}
RENEWED = {
    "private_key": "The new private key is in use. Delete the old one on GitHub.",
    "client_secret": "The new client secret is in use. Delete the old one on GitHub.",
    "webhook_secret": "The new webhook secret is in use. For a day the old one counts as well.",
}


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_page
def server(request: PersonRequest) -> HttpResponse:
    """The settings; a POST saves who may sign in and who may create workspaces."""
    if request.method != "POST":
        return _page(request)
    with transaction.atomic():
        row = ServerSettings.locked()
        form = PolicyForm(request.POST, row)
        if form.is_valid():
            row.save_policy(**form.cleaned_data)
            audit.record(request.user, AuditEvent.Deed.CHANGED_SERVER, **form.changes)
    if form.errors:
        return _page(request, policy=form)
    messages.success(request, "The server's settings were saved.")
    return redirect("server")


@require_POST
@administrator_page
def server_secret(request: PersonRequest) -> HttpResponse:
    """Renew one of the App's secrets."""
    form = SecretForm(request.POST)
    if form.is_valid():
        kind = form.cleaned_data["kind"]
        try:
            RENEWALS[kind](request.user, form.cleaned_data["secret"])
        except NotPossible as problem:
            form.add_error("secret", str(problem))
        else:
            messages.success(request, RENEWED[kind])
            return redirect("server")
    return _page(request, secret=form)


@require_POST
@administrator_page
def administrator_add(request: PersonRequest) -> HttpResponse:
    """Make somebody an administrator."""
    form = AdministratorForm(request.POST)
    if form.is_valid():
        try:
            user = administrators.add(request.user, form.cleaned_data["login"])
        except NotPossible as problem:
            form.add_error("login", str(problem))
        else:
            messages.success(request, f"{user.display_name} is an administrator now.")
            return redirect("server")
    return _page(request, administrator=form)


@require_POST
@administrator_page
def administrator_remove(request: PersonRequest) -> HttpResponse:
    """Take the rights off an administrator, but never off the last one."""
    try:
        user = administrators.remove(request.user, request.POST.get("login", ""))
    except NotPossible as problem:
        messages.error(request, str(problem))
        return redirect("server")
    messages.success(request, f"{user.display_name} is no administrator any more.")
    return redirect("landing" if user == request.user else "server")


@open_before_setup
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """Let an administrator in without GitHub; the link is used up by the button alone."""
    if request.method == "POST":
        user = administrators.use_login_link(token)
        if user:
            with transaction.atomic():
                login(request, user, settings.AUTHENTICATION_BACKENDS[0])
                audit.record(user, AuditEvent.Deed.SIGNED_IN, by="a link of the server's terminal")
            return redirect("landing")
    is_good = administrators.is_good_link(token)
    return render(request, "login_link.html", {"is_good": is_good}, status=200 if is_good else 410)


def _page(request: PersonRequest, **forms: Any) -> HttpResponse:
    row, app = ServerSettings.current(), github_app.credentials()
    context = {
        "policy": PolicyForm(None, row),
        "secret": SecretForm(),
        "administrator": AdministratorForm(),
        **forms,
        "administrators": User.objects.administrators().order_by("github_login"),
        "app": app,
        "app_page": app_page(settings.GITHUB_URL, app.slug),
        "made_here": None if app.is_from_environment else GitHubApp.objects.first(),
        "former_until": github_app.former_secret_until(),
    }
    return render(request, "server.html", context, status=422 if forms else 200)
