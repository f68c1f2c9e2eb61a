"""The first run: show the token, have GitHub make the App, become the first administrator."""

import secrets
import time

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from rollouts_app import github_app, github_setup, rates, setup_token
from rollouts_app.errors import GitHubError
from rollouts_app.refusals import NotPossible
from rollouts_app.server_forms import AppForm
from rollouts_app.views.setup_first import open_before_setup

# How many wrong tokens a minute are looked at, from all callers together.
MOST_TRIES = 20
# GitHub's code is good for an hour.
STATE_SECONDS = 3600
STATE = "setup_state"
NOT_OURS = (
    "This way back from GitHub was not begun in this browser, was used already, or is older than "
    "an hour. Nothing was stored: create the App once more, and delete the other one on GitHub."
)


@open_before_setup
@login_not_required
@never_cache
@require_safe
def setup(request: HttpRequest) -> HttpResponse:
    """Where the first run stands. Closed when it is over."""
    _check_open()
    token = request.GET.get("token", "")
    if token and _shows(request, token):
        # The token does not stay in the address, nor in what the next page is told of it.
        return redirect("setup")
    if token or not setup_token.is_held(request.session):
        return _ask_for_token(request, is_wrong=bool(token))
    app = github_app.known()
    if app is None:
        return render(request, "setup/app.html", {"form": AppForm()})
    return render(request, "setup/sign_in.html", {"app": app})


@open_before_setup
@login_not_required
@require_POST
def setup_begin(request: HttpRequest) -> HttpResponse:
    """Show the token that the server printed."""
    _check_open()
    if _shows(request, request.POST.get("token", "").strip()):
        return redirect("setup")
    return _ask_for_token(request, is_wrong=True)


@open_before_setup
@login_not_required
@require_POST
def setup_app(request: HttpRequest) -> HttpResponse:
    """What GitHub is going to be asked for, with the button that goes there."""
    _check_open()
    if not setup_token.is_held(request.session) or github_app.known():
        return redirect("setup")
    form = AppForm(request.POST)
    if not form.is_valid():
        return render(request, "setup/app.html", {"form": form}, status=422)
    state = secrets.token_urlsafe(24)
    request.session[STATE] = [state, time.time() + STATE_SECONDS, form.wishes.has_webhook]
    context = {
        "wishes": form.wishes,
        "manifest": github_setup.manifest_of(form.wishes),
        "page": github_setup.registration_page(form.wishes, state),
    }
    return render(request, "setup/manifest.html", context)


@open_before_setup
@login_not_required
@never_cache
@require_safe
def setup_created(request: HttpRequest) -> HttpResponse:
    """Back from GitHub, with the code that the App's credentials are fetched by."""
    _check_open()
    state, until, has_webhook = request.session.pop(STATE, ["", 0.0, False])
    is_ours = secrets.compare_digest(
        state.encode(), request.GET.get("state", "").encode(errors="replace")
    )
    if not (state and is_ours and time.time() < until and setup_token.is_held(request.session)):
        messages.error(request, NOT_OURS)
        return redirect("setup")
    try:
        github_setup.store_new_app(request.GET.get("code", ""), has_webhook=has_webhook)
    except (NotPossible, GitHubError) as problem:
        messages.error(request, f"The App could not be taken over. {problem}")
    return redirect("setup")


def _check_open() -> None:
    if not setup_token.is_needed():
        raise Http404


def _shows(request: HttpRequest, token: str) -> bool:
    """Whether the token is the right one; guessing is slowed down."""
    return rates.note("setup-tries", 60) <= MOST_TRIES and setup_token.show(request.session, token)


def _ask_for_token(request: HttpRequest, *, is_wrong: bool) -> HttpResponse:
    context = {"is_wrong": is_wrong}
    return render(request, "setup/token.html", context, status=422 if is_wrong else 200)
