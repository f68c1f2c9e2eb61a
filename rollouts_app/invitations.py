"""Invitations: by link, by e-mail, for GitHub accounts; sent again, revoked, accepted."""

import re
import smtplib
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.timezone import now

from rollouts_app import audit, vault
from rollouts_app.accounts import user_token
from rollouts_app.errors import Gone
from rollouts_app.github import InstallationClient, UserClient, UserFacts, api_url
from rollouts_app.memberships import people_of
from rollouts_app.models import AuditEvent, Invitation, Membership, User, Workspace
from rollouts_app.models.invitations import new_invitation
from rollouts_app.refusals import NotAllowed, NotPossible, SignInAgain
from rollouts_app.sync.clients import client_for

Deed = AuditEvent.Deed

# How long whoever made a link can read it again, in seconds. Only its hash is stored for good.
LINK_SECONDS = 600
LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?")


@dataclass
class Answers:
    """What has become of logins that were invited: each is in one of the lists."""

    invited: list[Invitation] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def invite(
    actor: User, workspace: Workspace, role: str, request: UUID | None, email: str = ""
) -> Invitation:
    """Invite whoever gets the link. The same `request` twice is one invitation.

    Raises `NotAllowed`, or `NotPossible` when the address has an invitation already.
    """
    invitation, token = new_invitation(workspace, actor, role, request)
    invitation.email = email.lower()
    try:
        _store(actor, invitation)
    except IntegrityError:
        same = Invitation.objects.filter(request=request, workspace=workspace, invited_by=actor)
        found = same.first() if request else None
        if found is None:
            raise NotPossible(f"{invitation.email} has an invitation that is waiting.") from None
        return found
    _keep_link(actor, invitation, token)
    return invitation


def invite_logins(actor: User, workspace: Workspace, role: str, logins: list[str]) -> Answers:
    """Invite GitHub accounts, each by an invitation that is good for it alone.

    GitHub says whether there are such people. Raises `NotAllowed`, `SignInAgain` or a
    `GitHubError`, then nobody is invited.
    """
    answers = Answers()
    client = _client(actor, workspace)
    people = [_person(client, login, answers) for login in logins]
    for facts in filter(None, people):
        if workspace.memberships.filter(user__github_id=facts.id).exists():
            answers.members.append(facts.login)
            continue
        invitation, token = new_invitation(workspace, actor, role, None)
        invitation.github_id, invitation.github_login = facts.id, facts.login
        try:
            _store(actor, invitation)
        except IntegrityError:
            answers.waiting.append(facts.login)
        else:
            _keep_link(actor, invitation, token)
            answers.invited.append(invitation)
    return answers


def resend(actor: User, workspace: Workspace, invitation_id: int) -> Invitation:
    """Give a pending invitation a new link, good for as long as a new one; the old one ends.

    Raises `NotAllowed` or `NotPossible`.
    """
    with people_of(workspace, actor) as own:
        invitation = _pending(own, invitation_id)
        token = invitation.renew_token()
        invitation.save(update_fields=["token_hash", "expires_at"])
        _record(actor, Deed.INVITED, invitation, again=True)
    _keep_link(actor, invitation, token)
    return invitation


def revoke(actor: User, workspace: Workspace, invitation_id: int) -> Invitation:
    """End a pending invitation. Raises `NotAllowed` or `NotPossible`."""
    with people_of(workspace, actor) as own:
        invitation = _pending(own, invitation_id)
        invitation.revoked_at = now()
        invitation.save(update_fields=["revoked_at"])
        _record(actor, Deed.REVOKED_INVITATION, invitation)
    return invitation


def accept(user: User, invitation: Invitation) -> Workspace:
    """Make the user a member, by an invitation that is used up by it.

    Who belongs to the workspace already keeps their role, and the invitation is left to others.
    Raises `NotPossible` with the reason.
    """
    workspace = invitation.workspace
    with transaction.atomic():
        # In the order in which all who change a workspace's people lock: first its own row.
        Workspace.objects.select_for_update(no_key=True).filter(pk=workspace.pk).first()
        if workspace.memberships.filter(user=user).exists():
            return workspace
        fresh = Invitation.objects.select_for_update().filter(pk=invitation.pk).first()
        reason = why_not(fresh, user)
        if fresh is None or reason:
            raise NotPossible(reason)
        fresh.accepted_at, fresh.accepted_by = now(), user
        fresh.save(update_fields=["accepted_at", "accepted_by"])
        Membership.objects.create(workspace=workspace, user=user, role=fresh.role)
        # Whoever is in needs no other way in.
        others = workspace.invitations.pending().bound_to(user.github_id)
        others.update(revoked_at=now())
        _record(user, Deed.JOINED, fresh, subject=str(workspace))
    return workspace


def why_not(invitation: Invitation | None, user: User | None) -> str:
    """Why the invitation cannot be accepted, by this user if there is one; empty when it can be."""
    if invitation is None or invitation.revoked_at:
        return "This invitation was revoked."
    if invitation.accepted_at:
        return "This invitation was used already."
    if invitation.has_expired:
        return "This invitation has expired."
    if user and invitation.github_id and invitation.github_id != user.github_id:
        return f"This invitation is for the GitHub account {invitation.github_login}."
    return ""


def waiting_for(user: User) -> list[Invitation]:
    """The invitations that are for the user's GitHub account, to workspaces they are not in."""
    bound = Invitation.objects.open().bound_to(user.github_id)
    others = bound.exclude(workspace__memberships__user=user)
    return list(others.select_related("workspace", "invited_by").order_by("workspace__slug"))


def link_of(actor: User, invitation: Invitation) -> str:
    """The invitation's link, for whoever made it, for some minutes; empty after that."""
    token = vault.recall(_link_name(actor, invitation))
    is_good = token and Invitation.objects.open().with_token(token).exists()
    return settings.PUBLIC_URL + reverse("invitation", args=[token]) if is_good else ""


def send(actor: User, invitation: Invitation) -> str:
    """Mail the link to the invitation's address, once; why that failed, in a sentence, or nothing.

    To be called once the invitation is committed: whoever reads quickly must find it.
    """
    if not cache.add(f"invitation-sent-{invitation.token_hash}", 1, timeout=LINK_SECONDS):
        return ""
    until = f"{invitation.expires_at:%d %B %Y, %H:%M} UTC"
    text = (
        f"{actor.display_name} invites you to the workspace {invitation.workspace} "
        f"on Osmosis Web, as {invitation.role}.\n\n"
        f"Accept with your GitHub account, until {until}:\n\n{link_of(actor, invitation)}\n\n"
        "The link is good for one person. If you do not know what this is about, do nothing.\n"
    )
    subject = f"Invitation to {invitation.workspace} on Osmosis Web"
    try:
        send_mail(subject, text, None, [invitation.email])
    except (OSError, smtplib.SMTPException) as error:
        return f"The e-mail could not be sent ({type(error).__name__}): send the link yourself."
    return ""


def _store(actor: User, invitation: Invitation) -> None:
    with people_of(invitation.workspace, actor) as own:
        _check(own, invitation.role)
        invitation.save()
        _record(actor, Deed.INVITED, invitation)


def _check(own: Membership, role: str) -> None:
    if not own.may_invite:
        raise NotAllowed("Owners and admins invite people to this workspace.")
    if role not in own.roles_to_give:
        raise NotAllowed("Only owners invite owners.")


def _pending(own: Membership, invitation_id: int) -> Invitation:
    pending = own.workspace.invitations.pending().select_for_update()
    invitation = pending.filter(pk=invitation_id).first()
    _check(own, invitation.role if invitation else Membership.Role.MEMBER)
    if invitation is None:
        raise NotPossible("That invitation was accepted or revoked in the meantime.")
    invitation.workspace = own.workspace
    return invitation


def _record(user: User, deed: Deed, invitation: Invitation, **details: bool | str) -> None:
    subject = str(details.pop("subject", invitation.subject))
    audit.record(
        user, deed, subject, workspace=invitation.workspace, role=invitation.role, **details
    )


def _keep_link(actor: User, invitation: Invitation, token: str) -> None:
    vault.keep(_link_name(actor, invitation), token, seconds=LINK_SECONDS)


def _link_name(actor: User, invitation: Invitation) -> str:
    return f"invitation-link-{actor.pk}-{invitation.pk}"


def _client(actor: User, workspace: Workspace) -> InstallationClient | UserClient:
    """Who may ask GitHub about logins: the App where it is installed, else the person."""
    if workspace.repository and workspace.repository.installation.is_usable:
        return client_for(workspace.repository.installation)
    token = user_token(actor)
    if token is None:
        raise SignInAgain
    return UserClient(api_url(settings.GITHUB_URL), token)


def _person(
    client: InstallationClient | UserClient, login: str, answers: Answers
) -> UserFacts | None:
    """What GitHub says of a login; None when it is nobody's, which is added to the answers."""
    with suppress(Gone):
        facts = client.person(login) if LOGIN.fullmatch(login) else None
        if facts and facts.type == "User":
            return facts
    answers.unknown.append(login)
    return None
