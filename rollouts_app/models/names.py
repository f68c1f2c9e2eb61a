"""The names that repositories have or had: clones keep the old one until somebody changes it."""

from django.db import models

from rollouts_app.models.repositories import Repository


class RepositoryName(models.Model):
    """A full name that a repository has or had, in lower case. The database writes these.

    A name may have been that of several, one after the other: GitHub gives it to whoever asks.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="names")
    full_name = models.CharField(max_length=255)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["full_name", "repository"], name="one_row_per_name_and_repository"
            )
        ]

    def __str__(self) -> str:
        return self.full_name
