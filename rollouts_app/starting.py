"""Starting from a template: a private repository of the person's own making, connected at once."""

import time
from collections.abc import Sequence

from django.conf import settings
from django.core.cache import cache

from rollouts_app.connection import client_of, connect_repository, is_listed
from rollouts_app.errors import Cause, Denied, Gone
from rollouts_app.github import InstallationFacts
from rollouts_app.models import Repository, User, Workspace
from rollouts_app.refusals import NotPossible, SignInAgain

PERMISSION = "administration"
# What GitHub says of a name that is taken.
TAKEN = "already exists"
# A press that comes while another one is at work does nothing, in seconds.
ONE_AT_A_TIME = 60
# GitHub lists a new repository to the App a moment after it was created, in seconds.
PATIENCE, PAUSE = 6.0, 0.4


def may_create(installations: Sequence[InstallationFacts]) -> list[InstallationFacts]:
    """The accounts on which the App may create a repository; none without a template."""
    if not settings.TEMPLATE_REPOSITORY:
        return []
    return [
        each
        for each in installations
        if each.permissions.get(PERMISSION) == "write" and not each.is_suspended
    ]


def create_from_template(
    user: User, workspace: Workspace, installation: InstallationFacts, name: str
) -> Repository | None:
    """Have GitHub create a private repository and connect it; None when a press before this one is
    still at it.

    In the person's own name: it takes both the App's and their permission. Raises `NotPossible`,
    `SignInAgain`, `RateLimited` or `Unavailable`.
    """
    if workspace.repositories.connected().exists():
        raise NotPossible("This workspace has its repository already.")
    if not cache.add(f"creating-{workspace.pk}", name, timeout=ONE_AT_A_TIME):
        return None
    try:
        return _create(user, workspace, installation, name)
    finally:
        cache.delete(f"creating-{workspace.pk}")


def _create(
    user: User, workspace: Workspace, installation: InstallationFacts, name: str
) -> Repository:
    owner = installation.account_login
    try:
        facts = client_of(user).generate(settings.TEMPLATE_REPOSITORY, owner, name)
    except Denied as refusal:
        if refusal.cause == Cause.CREDENTIALS:
            raise SignInAgain from refusal
        if TAKEN in str(refusal).lower():
            raise NotPossible(
                f"{owner}/{name} exists on GitHub already. Choose another name, or connect it: it "
                "is in the list once the App may read it."
            ) from refusal
        raise NotPossible(
            f"GitHub did not create {owner}/{name}. You may not be allowed to create repositories "
            f"there: ask an owner of {owner}. {refusal}"
        ) from refusal
    except Gone as refusal:
        raise NotPossible(
            f"GitHub does not show the template {settings.TEMPLATE_REPOSITORY} to you. The "
            "administrator of this server sets it as TEMPLATE_REPOSITORY."
        ) from refusal
    deadline = time.monotonic() + PATIENCE
    while not is_listed(user, installation.id, facts.id):
        if time.monotonic() > deadline:
            raise NotPossible(
                f"{facts.full_name} was created, but the App may not read it yet. Grant it access "
                "below, refresh the list, then choose it."
            )
        time.sleep(PAUSE)
    return connect_repository(user, workspace, installation.id, facts.id)
