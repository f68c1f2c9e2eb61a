"""`manage.py demo`: connects the demo's workspace to the emulator's sample repository."""

from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from rollouts_app.addresses import is_loopback
from rollouts_app.connection import tie_repository
from rollouts_app.models import Membership, User, Workspace
from rollouts_app.sync.clients import app_client, client_for
from rollouts_app.sync.installations import store_installation

WORKSPACE = "acme"
REPOSITORY = "acme/agents"
# She looks after the server, too.
ADMINISTRATOR = "ada"
# GitHub login → role in the workspace. Whoever else signs in at the emulator is a newcomer.
PEOPLE = {"ada": Membership.Role.OWNER, "linus": Membership.Role.MEMBER}


class Command(BaseCommand):
    help = "Seeds the demo: people, a workspace and its connected repository."

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_loopback(settings.GITHUB_URL):
            raise CommandError(
                f"The demo works with the emulator on this machine, not with {settings.GITHUB_URL}."
            )
        if not Workspace.objects.filter(slug=WORKSPACE).exists():
            seed()


@transaction.atomic
def seed() -> None:
    """Create the people and the workspace, and connect the repository, as onboarding would."""
    workspace = Workspace.objects.create(slug=WORKSPACE)
    installation = store_installation(app_client().repository_installation(REPOSITORY))
    client = client_for(installation)
    for login, role in PEOPLE.items():
        facts = client.person(login)
        user = User.objects.create(
            username=login,
            github_id=facts.id,
            github_login=login,
            name=facts.name,
            is_administrator=login == ADMINISTRATOR,
        )
        SocialAccount.objects.create(user=user, provider="github", uid=str(facts.id))
        Membership.objects.create(workspace=workspace, user=user, role=role)
    tie_repository(workspace, installation, client.repository(REPOSITORY))
