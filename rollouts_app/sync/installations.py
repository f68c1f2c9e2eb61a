"""Installations as GitHub tells of them, by webhook or by REST, and as we keep them."""

from collections.abc import Mapping

from rollouts_app.github import InstallationFacts
from rollouts_app.models import Installation
from rollouts_app.sync import payloads
from rollouts_app.sync.payloads import Payload

LONGEST_TYPE = 32


def store_installation(facts: InstallationFacts) -> Installation:
    """Keep what GitHub says of an installation; any mention mends one that was missed.

    Of an account that was deleted GitHub no longer says whose it was: then ours stays.
    """
    account = {
        "account_id": facts.account_id,
        "account_login": facts.account_login[: payloads.LONGEST_LOGIN],
        "account_type": facts.account_type[:LONGEST_TYPE],
    }
    told = {
        "permissions": facts.permissions,
        "suspended_at": facts.suspended_at,
        "removed_at": None,
    }
    installation, _ = Installation.objects.update_or_create(
        github_id=facts.id,
        defaults=told | account if facts.account_id else told,
        create_defaults=told | account,
    )
    return installation


def lacking_permissions(granted: Mapping[str, str]) -> list[str]:
    """Of what Git Sync needs to read, what is not among the granted permissions."""
    return [name for name in Installation.NEEDED_PERMISSIONS if not granted.get(name)]


def installation_told_of(payload: Payload) -> Installation | None:
    """The installation that a delivery names by number, as far as we know it."""
    number = payloads.number(payloads.part(payload, "installation"), "id")
    return Installation.objects.filter(github_id=number).first()
