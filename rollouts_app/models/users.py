"""People, known by their GitHub account's number."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import QuerySet


class PeopleManager(UserManager["User"]):
    def administrators(self) -> "QuerySet[User]":
        """Those who look after this server."""
        return self.filter(is_administrator=True, is_active=True)


class User(AbstractUser):
    """Someone who signed in with GitHub. The login is a label that follows renames."""

    github_id = models.BigIntegerField(unique=True, null=True, blank=True)
    github_login = models.CharField(max_length=255, blank=True)
    name = models.CharField(max_length=255, blank=True)
    # Looks after this server: who may sign in, the GitHub App, the doctor.
    is_administrator = models.BooleanField(default=False)

    objects: ClassVar[PeopleManager] = PeopleManager()

    @property
    def display_name(self) -> str:
        return self.name or self.github_login or self.username

    @property
    def initials(self) -> str:
        """One or two letters for the avatar."""
        words = self.display_name.split()
        return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()
