"""The JSON, one function an object: what versions 0.3.0 and 0.3.8 of the command line read."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse

from rollouts_app.models import (
    Branch,
    CliToken,
    DeviceGrant,
    Membership,
    Repository,
    User,
)

Json = dict[str, Any]


def user_of(user: User) -> Json:
    """The bearer. Without an address of their own that we know, the one GitHub gives everybody.

    https://docs.github.com/en/account-and-profile/reference/email-addresses-reference
    """
    stand_in = f"{user.github_id}+{user.github_login or user.username}@users.noreply.github.com"
    return {"id": str(user.pk), "email": user.email or stand_in, "name": user.display_name}


def grant_of(grant: DeviceGrant, device_code: str, seconds: int) -> Json:
    """What a device needs to be let in."""
    page = settings.PUBLIC_URL + reverse("device")
    return {
        "device_code": device_code,
        "user_code": grant.shown_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?code={grant.shown_code}",
        "expires_in": seconds,
        "interval": grant.interval,
    }


def login_of(key: CliToken, token: str) -> Json:
    """A token, for the device that was let in."""
    return {"token": token, **session_of(key)}


def session_of(key: CliToken) -> Json:
    """Whose token it is, and until when."""
    return {
        "token_id": key.public_id,
        "expires_at": key.expires_at.isoformat(),
        "user": user_of(key.user),
    }


def workspace_of(membership: Membership) -> Json:
    """A workspace, and the bearer's role in it."""
    workspace = membership.workspace
    return {"id": str(workspace.pk), "name": workspace.slug, "role": membership.role}


def listed_workspace_of(membership: Membership, repository: Repository | None) -> Json:
    """A workspace in the list of the bearer's; with its repository, to whom may read it."""
    connected = repository and {
        "id": str(repository.pk),
        "repo_full_name": repository.full_name,
    }
    # Nothing here costs money.
    return {**workspace_of(membership), "connected_repo": connected, "has_billing_setup": True}


def quickstart_of(membership: Membership, repository: Repository | None) -> Json:
    """How far the bearer's first steps in a workspace are."""
    return {
        "repo": {
            "connected": repository is not None,
            "full_name": repository and repository.full_name,
        },
        "billing_ready": True,
        "completed": membership.quickstart_completed_at is not None,
        "intent": membership.quickstart_intent or None,
    }


# What of a rollout's version a row is made of.
ROLLOUT = ("rollout_id", "rollout__name", "description", "rollout__first_seen_at")


def rollout_of(
    version: tuple[int, str, str, datetime], branch: Branch, repository: Repository
) -> Json:
    """A rollout as a branch shows it, from the values that ROLLOUT names."""
    number, name, description, first_seen_at = version
    return {
        "id": f"rol_{number}",
        "name": name,
        "description": description or None,
        "is_active": True,
        "repo_full_name": repository.full_name,
        "last_synced_commit_sha": branch.commit or None,
        "last_synced_at": branch.changed_at and branch.changed_at.isoformat(),
        "created_at": first_seen_at.isoformat(),
    }
