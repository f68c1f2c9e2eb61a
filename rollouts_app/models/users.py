"""People, known by their GitHub account's number."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Someone who signed in with GitHub. The login is a label that follows renames."""

    github_id = models.BigIntegerField(unique=True, null=True, blank=True)
    github_login = models.CharField(max_length=255, blank=True)
    name = models.CharField(max_length=255, blank=True)
    # Looks after this server: who may sign in, the GitHub App, the doctor.
    is_administrator = models.BooleanField(default=False)

    @property
    def display_name(self) -> str:
        return self.name or self.github_login or self.username

    @property
    def initials(self) -> str:
        """One or two letters for the avatar."""
        words = self.display_name.split()
        return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()
