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

    def answered_by(self, account_id: int, person_id: int) -> "InstallationRequestQuerySet":
        """Those that the App's installation on an account answers, by GitHub's numbers: whatever
        was asked of the account, and what the person asked of one that GitHub did not name.
        """
        of_person = Q(account_id=None, user__github_id=person_id, user__github_id__gt=0)
        return self.filter(Q(account_id=account_id) | of_person)

    def settle(self, account_login: str = "") -> int:
        """End open ones; with the account that the App was installed on, if it was."""
        return self.open().update(settled_at=now(), account_login=account_login)


class InstallationRequest(models.Model):
    """Somebody asked the owners of an organization, on GitHub, to install the App.

    The account is empty where GitHub did not name it. `missing_at` is set while GitHub lists the
    request no more, though it is not settled: it was refused or taken back.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="installation_requests"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    requested_at = models.DateTimeField(default=now)
    account_id = models.BigIntegerField(null=True)
    account_login = models.CharField(max_length=255, blank=True)
    missing_at = models.DateTimeField(null=True)
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

    def note(self, *, account_id: int | None, account_login: str, is_listed: bool) -> None:
        """Take over what GitHub says of it; the first time it was missed is kept."""
        self.account_id, self.account_login = account_id, account_login
        self.missing_at = None if is_listed else self.missing_at or now()
        waiting = InstallationRequest.objects.open().filter(pk=self.pk)
        waiting.update(
            account_id=account_id, account_login=account_login, missing_at=self.missing_at
        )
