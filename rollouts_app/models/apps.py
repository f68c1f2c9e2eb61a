"""The GitHub App that this server made for itself."""

from django.db import models
from django.db.models import Q

ONLY = 1


class GitHubApp(models.Model):
    """The one App, from GitHub's manifest flow. Secrets are stored as `vault.encrypt` makes them.

    A former webhook secret is accepted beside the new one until `former_webhook_secret_until`.
    """

    id = models.SmallIntegerField(primary_key=True, default=ONLY, editable=False)
    app_id = models.BigIntegerField()
    slug = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    owner = models.CharField(max_length=255)
    is_of_organization = models.BooleanField()
    client_id = models.CharField(max_length=255)
    client_secret = models.TextField()
    private_key = models.TextField()
    # Empty without a webhook: where GitHub cannot reach this server, the timer finds pushes.
    webhook_secret = models.TextField(blank=True)
    former_webhook_secret = models.TextField(blank=True)
    former_webhook_secret_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=ONLY), name="there_is_one_github_app")]

    def __str__(self) -> str:
        return self.slug
