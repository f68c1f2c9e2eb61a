"""Whether GitHub lets people read the workspace repository, asked through the App's installation.

An answer is kept for a quarter of an hour, a refusal for a minute. A limit or an outage says
nothing about anybody's access: the last answer goes on.
"""

import logging
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.timezone import now

from rollouts_app import audit
from rollouts_app.errors import GitHubError, Gone, RateLimited
from rollouts_app.github import InstallationClient
from rollouts_app.models import AuditEvent, Membership, Repository, User, Workspace
from rollouts_app.models.repositories import RepositoryQuerySet
from rollouts_app.refusals import NotPossible
from rollouts_app.sync.clients import client_for

log = logging.getLogger(__name__)

GOOD_FOR = timedelta(minutes=15)
# After a refusal, which may be about to be put right, and where GitHub could not be asked.
SOON = timedelta(minutes=1)


def is_kept_out(membership: Membership) -> bool:
    """Whether the member must not see what is stored of the workspace's private repository.

    Asks GitHub when the last answer is too old; without a query while it is not. A member of whom
    GitHub has never said anything is kept out until it does; owners and admins are not, who look
    after the connection.
    """
    repository = membership.workspace.repository
    if not repository or not repository.is_private or not membership.workspace.needs_read_access:
        return False
    due_at = membership.ask_again_at
    if membership.can_read(repository) is None or due_at is None or due_at <= now():
        _ask(membership, repository)
    answer = membership.can_read(repository)
    return not membership.may_manage_connection if answer is None else not answer


def may_read(client: InstallationClient, repository: Repository, user: User) -> bool:
    """Whether GitHub lets the user read the repository. Raises a `GitHubError` when it cannot say.

    People are known by number: a login that has passed to somebody else is looked up anew.
    """
    try:
        answer = client.permission(repository.full_name, user.github_login)
        if answer.user_id in {0, user.github_id}:
            return answer.may_read
    except Gone:
        log.info("GitHub knows no %s, or no %s", user.github_login, repository.full_name)
    login = client.person_by_id(user.github_id or 0).login
    return client.permission(repository.full_name, login).may_read


def open_to(user: User) -> list[Workspace]:
    """The workspaces the user may join because GitHub lets them read the repository."""
    return [each.workspace for each in _open(user) if _reads(each, user)]


def join(user: User, workspace_id: int) -> Workspace:
    """Become a member of a workspace that is open to whoever may read its repository.

    Twice is once. Raises `NotPossible`.
    """
    member = Membership.objects.filter(user=user, workspace=workspace_id).first()
    if member:
        return member.workspace
    repository = _open(user).filter(workspace=workspace_id).first()
    if repository is None or not _reads(repository, user):
        raise NotPossible("GitHub does not let you read a repository whose workspace is open.")
    workspace = repository.workspace
    try:
        with transaction.atomic():
            role = Membership.Role.MEMBER
            Membership.objects.create(workspace=workspace, user=user, role=role)
            audit.record(
                user,
                AuditEvent.Deed.JOINED,
                str(workspace),
                workspace=workspace,
                role=role,
                reads=repository.full_name,
            )
    except IntegrityError:
        log.info("%s joined %s twice at once", user, workspace)
    return workspace


def _open(user: User) -> RepositoryQuerySet:
    is_open = Q(workspace__is_open_to_readers=True, workspace__deletion_requested_at=None)
    others = Repository.objects.connected().filter(is_open)
    others = others.exclude(workspace__memberships__user=user)
    return others.select_related("workspace", "installation").order_by("workspace__slug")


def _reads(repository: Repository, user: User) -> bool:
    try:
        return may_read(client_for(repository.installation), repository, user)
    except GitHubError as error:
        log.warning("Whether %s may read %s could not be asked: %s", user, repository, error)
        return False


def _ask(membership: Membership, repository: Repository) -> None:
    """Bring the membership's answer up to date, here and in its row."""
    known = membership.can_read(repository)
    if known is not None and not _is_ours_to_ask(membership):
        return
    wait = SOON
    try:
        known = may_read(client_for(repository.installation), repository, membership.user)
        wait = GOOD_FOR if known else SOON
    except RateLimited as limit:
        wait = max(limit.retry_at - now(), SOON)
    except GitHubError as error:
        log.warning("Whether %s may read could not be asked: %s", membership, error)
    membership.may_read, membership.asked_about = known, repository.pk
    membership.ask_again_at = now() + wait
    Membership.objects.filter(pk=membership.pk).update(
        may_read=known, asked_about=repository.pk, ask_again_at=membership.ask_again_at
    )


def _is_ours_to_ask(membership: Membership) -> bool:
    """Of many requests at once, one asks; the others go on with the answer there is."""
    due = Membership.objects.filter(pk=membership.pk, ask_again_at__lte=now())
    return bool(due.update(ask_again_at=now() + SOON))
