"""What administrators decide for the whole server."""

from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

ONLY = 1


class ServerSettings(models.Model):
    """One row: who may sign in, who may create workspaces, and the token of the first run."""

    class SignIn(models.TextChoices):
        INVITED = "invited", "People who are invited, and members of the organizations named below"
        EVERYBODY = "everybody", "Everybody with a GitHub account"

    class Creators(models.TextChoices):
        EVERYBODY = "everybody", "Everybody who may sign in"
        ADMINISTRATORS = "administrators", "Administrators of this server only"

    id = models.SmallIntegerField(primary_key=True, default=ONLY, editable=False)
    # Empty until an administrator has chosen: then the environment's SIGN_IN counts.
    sign_in = models.CharField(max_length=10, choices=SignIn, blank=True)
    organizations = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    workspace_creators = models.CharField(
        max_length=20, choices=Creators, default=Creators.EVERYBODY
    )
    # Of the first run: SHA-256 of the token that the server printed, empty when it is used up.
    setup_token_hash = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=ONLY), name="there_is_one_row_of_server_settings")
        ]

    def __str__(self) -> str:
        return "Settings of the server"

    @classmethod
    def current(cls) -> Self:
        """The row, or one with the defaults while there is none. One query."""
        return cls.objects.filter(pk=ONLY).first() or cls()

    @classmethod
    def locked(cls) -> Self:
        """The row, made if there is none, locked until the caller's transaction ends."""
        cls.objects.get_or_create(pk=ONLY)
        return cls.objects.select_for_update().get(pk=ONLY)

    def save_policy(self, sign_in: str, organizations: list[str], workspace_creators: str) -> None:
        """Keep what an administrator has chosen."""
        self.sign_in, self.organizations = sign_in, organizations
        self.workspace_creators = workspace_creators
        self.save(update_fields=["sign_in", "organizations", "workspace_creators"])

    @property
    def who_may_sign_in(self) -> str:
        """One of `SignIn`."""
        return self.sign_in or settings.SIGN_IN

    @property
    def lets_everybody_in(self) -> bool:
        return self.who_may_sign_in == self.SignIn.EVERYBODY
