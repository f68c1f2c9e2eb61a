"""The GitHub App's credentials, told in one place: the environment's, else those of the first run.

Those of the environment cost no query. The row is read each time, by its key, so that what an
administrator renews counts at once in every process; only deciphering is remembered.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.utils.timezone import now

from rollouts_app import vault
from rollouts_app.errors import Cause, Denied
from rollouts_app.models import GitHubApp

# How long a former webhook secret counts beside the new one: the time to enter it at GitHub.
FORMER_SECRET_LASTS = timedelta(days=1)


@dataclass(frozen=True)
class Credentials:
    """Who we are to GitHub. `webhook_secrets` are those accepted, the newest first; none without
    a webhook. A secret that no key of ours deciphers any more is empty.
    """

    app_id: str
    slug: str
    client_id: str
    client_secret: str = field(repr=False)
    private_key: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(repr=False)
    is_from_environment: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        """All that must never be shown."""
        return (self.client_secret, self.private_key, *self.webhook_secrets)

    @property
    def has_webhook(self) -> bool:
        """Whether GitHub tells us of pushes; otherwise the timer finds them."""
        return bool(self.webhook_secrets)


def known() -> Credentials | None:
    """The App's credentials, or None before the first run. At most one query."""
    if settings.GITHUB_APP_ID:
        return Credentials(
            app_id=str(settings.GITHUB_APP_ID),
            slug=settings.GITHUB_APP_SLUG,
            client_id=settings.GITHUB_APP_CLIENT_ID,
            client_secret=settings.GITHUB_APP_CLIENT_SECRET,
            private_key=settings.GITHUB_APP_PRIVATE_KEY,
            webhook_secrets=tuple(
                filter(
                    None,
                    [settings.GITHUB_APP_WEBHOOK_SECRET, settings.GITHUB_APP_FORMER_WEBHOOK_SECRET],
                )
            ),
            is_from_environment=True,
        )
    row = GitHubApp.objects.first()
    return _deciphered(row) if row else None


def credentials() -> Credentials:
    """The App's credentials. Raises Denied before the first run."""
    found = known()
    if found is None:
        raise Denied(
            "This server has no GitHub App yet. Whoever runs it creates one at /setup.",
            Cause.CREDENTIALS,
        )
    return found


def former_secret_until() -> datetime | None:
    """Until when the webhook secret before the present one counts as well, if it does."""
    row = None if settings.GITHUB_APP_ID else GitHubApp.objects.first()
    until = row.former_webhook_secret_until if row else None
    return until if until and until > now() else None


def _deciphered(row: GitHubApp) -> Credentials:
    secrets = [row.webhook_secret]
    if row.former_webhook_secret_until and row.former_webhook_secret_until > now():
        secrets.append(row.former_webhook_secret)
    return Credentials(
        app_id=str(row.app_id),
        slug=row.slug,
        client_id=row.client_id,
        client_secret=_plain(row.client_secret),
        private_key=_plain(row.private_key),
        webhook_secrets=tuple(filter(None, map(_plain, secrets))),
    )


@lru_cache(maxsize=16)
def _plain(ciphertext: str) -> str:
    return (vault.decrypt(ciphertext) or "") if ciphertext else ""
