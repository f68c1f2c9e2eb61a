"""What GitHub told us, and what came of it."""

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.timezone import now

from rollouts_app.models.repositories import Installation, Repository
from rollouts_app.models.syncs import KEPT, SyncRun


class WebhookDeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def concerning(self, repository: Repository) -> "WebhookDeliveryQuerySet":
        """Those about the repository, and those about the App on the account it belongs to."""
        account = repository.installation.account_id
        installations = Installation.objects.filter(account_id=account).values_list("pk", flat=True)
        about_all = Q(repository=None, installation__in=list(installations))
        return self.filter(Q(repository=repository) | about_all)

    def for_log(self) -> "WebhookDeliveryQuerySet":
        """The newest first, with the runs they led to."""
        return self.order_by("-received_at", "-pk").select_related("run", "run__branch")

    def received(self) -> "WebhookDeliveryQuerySet":
        """Without those that GitHub was asked to repeat and that have not come yet."""
        return self.filter(is_received=True)

    def outdated(self) -> "WebhookDeliveryQuerySet":
        """Those received longer ago than history is kept, without the last of a repository."""
        same = WebhookDelivery.objects.received().filter(repository=OuterRef("repository"))
        newer = same.filter(received_at__gt=OuterRef("received_at"))
        is_not_last = Q(repository=None) | Q(is_received=False) | Exists(newer)
        return self.filter(is_not_last, received_at__lt=now() - KEPT)


class WebhookDelivery(models.Model):
    """One genuine delivery from GitHub, and what came of it in words.

    One that did not reach us, and that GitHub was asked to repeat, is a row before it comes.
    """

    delivery_id = models.CharField(max_length=64, unique=True)
    event = models.CharField(max_length=64)
    action = models.CharField(max_length=64, blank=True)
    repository = models.ForeignKey(
        Repository, on_delete=models.SET_NULL, null=True, blank=True, related_name="deliveries"
    )
    # Of a delivery about the App on an account, which concerns all that is connected there.
    installation = models.ForeignKey(
        Installation, on_delete=models.SET_NULL, null=True, blank=True, related_name="deliveries"
    )
    outcome = models.TextField(blank=True)
    # The sync it asked for, and how long taking it in took.
    run = models.ForeignKey(
        SyncRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="deliveries"
    )
    took = models.DurationField(null=True, blank=True)
    received_at = models.DateTimeField(default=now)
    is_received = models.BooleanField(default=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["repository", "-received_at"], name="deliveries_of_a_repository"),
            # Those of a repository and those of its account, merged, have no other order.
            models.Index(fields=["-received_at", "-id"], name="deliveries_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.delivery_id}"

    def arrive(self) -> bool:
        """Take note that a repetition we asked for has come; False when it had come before."""
        missing = WebhookDelivery.objects.filter(pk=self.pk, is_received=False)
        return bool(missing.update(is_received=True, received_at=now()))
