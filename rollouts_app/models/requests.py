"""Requests to install the App, by people who have to ask an organization's owners."""

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from rollouts_app.models.users import User
from rollouts_app.models.workspaces import Workspace


class InstallationRequestQuerySet(models.QuerySet["InstallationRequest"]):
    def open(self) -> "InstallationRequestQuerySet":
        """Those that nobody has answered yet, as far as we know."""
        return self.filter(settled_at=None)

    def settle(self, account_login: str = "") -> int:
        """End open ones; with the account that the App was installed on, if it was."""
        return self.open().update(settled_at=now(), account_login=account_login)


class InstallationRequest(models.Model):
    """Somebody asked the owners of an organization, on GitHub, to install the App.

    GitHub does not say which organization until it is approved.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="installation_requests"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    requested_at = models.DateTimeField(default=now)
    account_login = models.CharField(max_length=255, blank=True)
    settled_at = models.DateTimeField(null=True)

    objects = InstallationRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user"],
                condition=Q(settled_at=None),
                name="one_open_request_per_person_and_workspace",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} for {self.workspace}"
