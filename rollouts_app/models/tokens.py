"""What the command line comes with: bearer tokens, and its requests to be let in."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from rollouts_app.models.users import User
from rollouts_app.models.workspaces import Membership, Workspace

# By this a token is recognised wherever it turns up: in a log, a commit, a paste.
PREFIX = "osmw_"
HINT_LENGTH = len(PREFIX) + 4
LOGIN_LASTS = timedelta(days=90)
# What is written down of when a token was used is exact to this.
USE_IS_NOTED_EVERY = timedelta(minutes=1)

GRANT_LASTS = timedelta(minutes=15)
# Seconds between two looks of a device, and how far a device that does not keep to it is slowed.
POLL_SECONDS, SLOWER_BY, SLOWEST = 3, 5, 30
# Letters that are not taken for one another, and spell no words.
CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8


def hash_of(token: str) -> str:
    """What is stored of a token. It is random enough to need no salt; any text may come in."""
    return sha256(token.encode(errors="replace")).hexdigest()


class CliTokenQuerySet(models.QuerySet["CliToken"]):
    def with_token(self, token: str) -> "CliTokenQuerySet":
        """The one that a bearer shows, or none."""
        return self.filter(token_hash=hash_of(token))

    def kept(self) -> "CliTokenQuerySet":
        """Those that were not revoked; those that have expired are among them."""
        return self.filter(revoked_at=None)

    def of_members(self, workspace: Workspace) -> "CliTokenQuerySet":
        """The keys of a workspace whose people still belong to it."""
        members = Membership.objects.filter(workspace=workspace).values("user")
        return self.filter(workspace=workspace, user__in=members)


class CliToken(models.Model):
    """A bearer token of one person, of which only the hash is stored.

    With a workspace it is an API key, good for that one alone; without one it is the sign-in of a
    device, good wherever the person is a member. `request` is the number of the form that asked
    for it: the same form sent twice makes one key.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="cli_tokens")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="cli_tokens", null=True
    )
    # Goes into addresses; the token cannot be told from it.
    public_id = models.CharField(max_length=32, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    # How it begins, for people to tell theirs apart.
    hint = models.CharField(max_length=16)
    request = models.UUIDField(unique=True, null=True)
    name = models.CharField(max_length=100)
    # Where it was made, in words: the machine that signed in, or the browser.
    device = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = CliTokenQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["workspace", "-id"], name="api_keys_of_a_workspace")]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @property
    def is_login(self) -> bool:
        return self.workspace_id is None

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= now()

    def note_use(self) -> None:
        """Write down that it was used, unless that was done within the last minute."""
        moment = now()
        if self.last_used_at and moment - self.last_used_at < USE_IS_NOTED_EVERY:
            return
        self.last_used_at = moment
        CliToken.objects.filter(pk=self.pk).update(last_used_at=moment)

    def revoke(self) -> bool:
        """End it for good; whether it had not been ended before."""
        return bool(CliToken.objects.kept().filter(pk=self.pk).update(revoked_at=now()))


def new_token(user: User, name: str, expires_at: datetime) -> tuple[CliToken, str]:
    """A token's row, not saved yet, and the token itself, which is not stored anywhere."""
    text = PREFIX + secrets.token_urlsafe(32)
    row = CliToken(
        user=user,
        public_id=secrets.token_hex(12),
        token_hash=hash_of(text),
        hint=text[:HINT_LENGTH],
        name=name[:100],
        expires_at=expires_at,
    )
    return row, text


def normal_code(text: str) -> str:
    """A code as it is stored, however it was typed: letter case, dash and spaces do not matter."""
    return "".join(letter for letter in text.upper() if letter.isalnum())


class DeviceGrantQuerySet(models.QuerySet["DeviceGrant"]):
    def with_user_code(self, text: str) -> "DeviceGrantQuerySet":
        """The request whose code a person typed, or none."""
        return self.filter(user_code=normal_code(text)[:CODE_LENGTH]) if text else self.none()

    def with_device_code(self, text: str) -> "DeviceGrantQuerySet":
        """The request a device asks after, or none."""
        return self.filter(device_code_hash=hash_of(text))

    def waiting(self) -> "DeviceGrantQuerySet":
        """Those that nobody has decided on, and still can."""
        return self.filter(state=DeviceGrant.State.WAITING, expires_at__gt=now())


class DeviceGrant(models.Model):
    """A device's request to act for somebody, who decides on it in a browser.

    https://datatracker.ietf.org/doc/html/rfc8628
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        APPROVED = "approved"
        DENIED = "denied"
        USED = "used"

    device_code_hash = models.CharField(max_length=64, unique=True)
    user_code = models.CharField(max_length=CODE_LENGTH, unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    device_name = models.CharField(max_length=255, blank=True)
    program = models.CharField(max_length=100, blank=True)
    address = models.GenericIPAddressField(null=True)
    # Who decided.
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField()
    interval = models.PositiveSmallIntegerField(default=POLL_SECONDS)
    polled_at = models.DateTimeField(null=True)

    objects = DeviceGrantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting") | Q(user__isnull=False),
                name="somebody_decided_on_a_device",
            )
        ]
        indexes = [models.Index(fields=["expires_at"], name="device_grants_by_expiry")]

    def __str__(self) -> str:
        return f"{self.device_name} ({self.state})"

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= now()

    @property
    def shown_code(self) -> str:
        """The code as people read it: two groups of four."""
        return f"{self.user_code[:4]}-{self.user_code[4:]}"

    def poll(self) -> bool:
        """Take note of a look; whether it came too early, which makes the device wait longer."""
        moment, before = now(), self.polled_at
        # A second for the clocks and the way.
        due = before and before + timedelta(seconds=self.interval - 1)
        is_early = due is not None and moment < due
        if is_early:
            self.interval = min(self.interval + SLOWER_BY, SLOWEST)
        self.polled_at = moment
        self.save(update_fields=["polled_at", "interval"])
        return is_early


def new_grant() -> tuple[DeviceGrant, str]:
    """A request, not saved yet, and the device's own code, of which the hash is stored."""
    device_code = secrets.token_urlsafe(32)
    grant = DeviceGrant(
        device_code_hash=hash_of(device_code),
        user_code="".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH)),
        expires_at=now() + GRANT_LASTS,
    )
    return grant, device_code
