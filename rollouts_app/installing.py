"""Installing the App on accounts: off to GitHub and back, and what owners are asked for."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from time import time

from django.conf import settings
from django.core.cache import cache
from django.utils.timezone import now

from rollouts_app import audit, github_app
from rollouts_app.addresses import new_installation_page
from rollouts_app.connection import client_of
from rollouts_app.errors import Denied, GitHubError
from rollouts_app.github import InstallationFacts, RequestFacts
from rollouts_app.models import AuditEvent, InstallationRequest, User, Workspace
from rollouts_app.refusals import SignInAgain
from rollouts_app.sync.clients import app_client

# How long someone may take on GitHub's installation page, in seconds.
STATE_SECONDS = 3600
# How long a state is told apart from one that never was: used or expired, in seconds.
REMEMBERED_SECONDS = 24 * 3600
# A page that looks by itself does not ask GitHub for requests more often than this.
SECONDS_BETWEEN_LOOKS = 8


class StateFault(Enum):
    """Why a way back from GitHub does not count, as a sentence begins."""

    UNKNOWN = "This way back from GitHub was not begun by you on this server, or long ago"
    USED = "This way back from GitHub was used already"
    EXPIRED = "This way back from GitHub has expired: it is good for one hour"


@dataclass(frozen=True)
class Return:
    """Somebody back from GitHub: the workspace they began in, and what is wrong with it."""

    workspace: Workspace | None
    fault: StateFault | None = None


@dataclass(frozen=True)
class _KeptState:
    """Who began an installation, for which workspace, and until when it counts (Unix seconds)."""

    user: int
    workspace: int
    expires_at: float


def installation_address(user: User, workspace: Workspace) -> str:
    """GitHub's page to install the App, with a state that leads back to this workspace once."""
    state = secrets.token_urlsafe(24)
    kept = _KeptState(user.pk, workspace.pk, time() + STATE_SECONDS)
    cache.set(_name_of_state(state), kept, timeout=REMEMBERED_SECONDS)
    return new_installation_page(settings.GITHUB_URL, github_app.credentials().slug, state)


def return_by_state(user: User, state: str) -> Return:
    """Where a way back from GitHub leads; a good state is used up.

    The workspace is named also when the state is used or expired, so that it can be begun again,
    but only to the person who began there.
    """
    name = _name_of_state(state)
    kept: _KeptState | None = cache.get(name)
    if kept is None or kept.user != user.pk:
        return Return(None, StateFault.UNKNOWN)
    workspace = Workspace.objects.filter(pk=kept.workspace, memberships__user=user).first()
    if workspace is None:
        return Return(None, StateFault.UNKNOWN)
    if kept.expires_at < time():
        return Return(workspace, StateFault.EXPIRED)
    # Adding is atomic: of two returns at once, one is the first.
    if not cache.add(f"{name}-used", user.pk, timeout=REMEMBERED_SECONDS):
        return Return(workspace, StateFault.USED)
    return Return(workspace)


def note_request(user: User, workspace: Workspace) -> None:
    """Keep that somebody asked the owners of an organization to approve the App. Twice is once."""
    InstallationRequest.objects.update_or_create(
        workspace=workspace,
        user=user,
        settled_at=None,
        defaults={
            "requested_at": now(),
            "account_id": None,
            "account_login": "",
            "missing_at": None,
        },
    )
    cache.delete(_name_of_look(workspace))
    follow_requests(workspace)


def follow_requests(workspace: Workspace) -> None:
    """Ask GitHub which account the open requests are about, and whether they still wait there.

    Not more often than every few seconds; while GitHub does not say, all stays as it is.
    """
    waiting = list(workspace.installation_requests.open().select_related("user"))
    if not waiting or not cache.add(_name_of_look(workspace), 1, timeout=SECONDS_BETWEEN_LOOKS):
        return
    try:
        listed = sorted(app_client().installation_requests(), key=lambda facts: -facts.id)
    except GitHubError:
        return
    for request in waiting:
        _follow(request, [facts for facts in listed if facts.person_id == request.user.github_id])


def _follow(request: InstallationRequest, own: Sequence[RequestFacts]) -> None:
    """Compare a request with what its person has open at GitHub, the latest first."""
    known = request.account_id
    facts = next((each for each in own if known in (None, each.account_id)), None)
    request.note(
        account_id=facts.account_id if facts else known,
        account_login=facts.account_login if facts else request.account_login,
        is_listed=facts is not None,
    )


def settle_approved(workspace: Workspace, listed: Iterable[InstallationFacts]) -> None:
    """End open requests that one of the installations, listed to a member, is the answer to.

    The webhook says so as well; this is for the one that never came.
    """
    for request in workspace.installation_requests.open():
        answer = next((facts for facts in listed if _answers(facts, request)), None)
        if answer:
            own = workspace.installation_requests.filter(pk=request.pk)
            own.settle(answer.account_login)


def _answers(facts: InstallationFacts, request: InstallationRequest) -> bool:
    """Whether it is on the account that was asked; or, where that is not known, came afterwards."""
    if request.account_id:
        return facts.account_id == request.account_id
    return facts.created_at is not None and facts.created_at >= request.requested_at


def installations_of(user: User) -> list[InstallationFacts]:
    """Those that GitHub lists to the user's own token. Raises `SignInAgain`, `RateLimited` or
    `Unavailable`.
    """
    try:
        return list(client_of(user).installations())
    except Denied as refusal:
        raise SignInAgain from refusal


def reaches(user: User, installation_id: int) -> InstallationFacts | None:
    """The installation, if GitHub lists it to the user's own token: anybody can write a number.

    That it does not is noted. Raises `SignInAgain`, `RateLimited` or `Unavailable`.
    """
    for facts in installations_of(user):
        if facts.id == installation_id:
            return facts
    why = "GitHub does not list it to them"
    audit.record(user, AuditEvent.Deed.WAS_REFUSED, f"installation {installation_id}", why=why)
    return None


def _name_of_state(state: str) -> str:
    """Where a state is kept: by its hash, as what comes in by the address may be any text."""
    return f"install-state-{sha256(state.encode(errors='replace')).hexdigest()}"


def _name_of_look(workspace: Workspace) -> str:
    return f"look-at-requests-{workspace.pk}"
