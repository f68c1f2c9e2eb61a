"""The rollouts of a repository, by name."""

from django.db import models

from rollouts_app.models.repositories import Repository


class Rollout(models.Model):
    """A direct subdirectory of `rollouts/` by name, with an id that outlives its contents."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="rollouts")
    name = models.TextField(db_collation="C")
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "name"], name="one_rollout_per_exact_name"
            )
        ]

    def __str__(self) -> str:
        return self.name
