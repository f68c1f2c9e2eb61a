"""Who may sign in to this server, and who may create workspaces: the administrators' choice."""

import logging

from django.conf import settings
from django.db.models import Q

from rollouts_app.errors import GitHubError
from rollouts_app.github import UserClient, api_url
from rollouts_app.models import Installation, Invitation, ServerSettings, User

log = logging.getLogger(__name__)


def may_sign_in(user: User, token: str, invitation: str = "") -> bool:
    """Whether somebody GitHub vouches for may come in.

    `token` is their own at GitHub, `invitation` that of the link they come by. Administrators,
    members of workspaces and people who are invited always may. An outage lets nobody new in.
    """
    if _is_known(user) or _is_invited(user, invitation):
        return True
    server = ServerSettings.current()
    return server.lets_everybody_in or _reaches_one_of(token, server.organizations)


def may_create_workspaces(user: User) -> bool:
    """Whether somebody who is signed in may start another workspace."""
    creators = ServerSettings.current().workspace_creators
    return user.is_administrator or creators == ServerSettings.Creators.EVERYBODY


def _is_known(user: User) -> bool:
    return user.is_administrator or (user.pk is not None and user.memberships.exists())


def _is_invited(user: User, token: str) -> bool:
    invitations = Invitation.objects.open()
    return (
        invitations.bound_to(user.github_id).exists()
        or invitations.filter(github_id=None).with_token(token).exists()
    )


def _reaches_one_of(token: str, organizations: list[str]) -> bool:
    """Whether GitHub lists the App's installation on one of the organizations to the person, or one
    whose workspace is open to readers of the repository.

    It lists those where they can read a repository: asking for membership itself would take
    another permission of the App.
    https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
    """
    is_open = Q(
        repositories__workspace__is_open_to_readers=True, repositories__disconnected_at=None
    )
    names = {name.casefold() for name in organizations}
    open_ids = set(Installation.objects.filter(is_open).values_list("github_id", flat=True))
    if not names and not open_ids:
        return False
    try:
        return any(
            each.account_login.casefold() in names or each.id in open_ids
            for each in UserClient(api_url(settings.GITHUB_URL), token).installations()
        )
    except GitHubError as error:
        log.warning("What somebody reaches could not be asked for at sign-in: %s", error)
        return False
