"""The GitHub App of this server: made by GitHub's manifest flow, its secrets renewed.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import json
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from rollouts_app import audit, github_app, vault
from rollouts_app.addresses import is_loopback
from rollouts_app.errors import GitHubError, Unavailable
from rollouts_app.github import AppClient, NewAppFacts, accepts_client, api_url, convert_manifest
from rollouts_app.models import AuditEvent, GitHubApp, Installation, User
from rollouts_app.refusals import NotPossible

EVENTS = ["push", "create", "delete", "repository"]
# GitHub takes no longer names for an App.
LONGEST_NAME = 34


@dataclass(frozen=True)
class Wishes:
    """What the App is to be: of which organization (empty: of the person's own account), and how.

    Without a webhook pushes are found by the timer. A public App can be installed on other accounts
    than its owner's. `may_create` asks for the permission to create
    repositories, which the App needs for starting from a template, and for nothing else.
    """

    name: str
    organization: str = ""
    has_webhook: bool = True
    is_public: bool = False
    may_create: bool = False


def suggested_name() -> str:
    """A name that is hardly anybody else's: names of Apps are unique on GitHub."""
    return f"Osmosis Web {urlsplit(settings.PUBLIC_URL).hostname}"[:LONGEST_NAME].rstrip(" .-")


def can_be_reached() -> bool:
    """Whether GitHub could deliver to PUBLIC_URL, as far as the address tells."""
    return not is_loopback(settings.PUBLIC_URL) or is_loopback(settings.GITHUB_URL)


def manifest_of(wishes: Wishes) -> str:
    """The manifest, as JSON. Addresses follow from PUBLIC_URL."""
    home = settings.PUBLIC_URL
    permissions = dict(Installation.NEEDED_PERMISSIONS)
    if wishes.may_create:
        permissions["administration"] = "write"
    return json.dumps(
        {
            "name": wishes.name,
            "url": home,
            "description": "Shows the agent rollouts of each branch.",
            "hook_attributes": {
                "url": f"{home}/webhooks/github",
                "active": wishes.has_webhook,
            },
            "redirect_url": f"{home}/setup/created",
            "callback_urls": [f"{home}/accounts/github/login/callback/"],
            "setup_url": f"{home}/onboarding/installed",
            "setup_on_update": True,
            "public": wishes.is_public,
            "default_permissions": permissions,
            "default_events": EVENTS if wishes.has_webhook else [],
        }
    )


def registration_page(wishes: Wishes, state: str) -> str:
    """The page of GitHub's that takes the manifest, and hands the state back."""
    owner = f"/organizations/{quote(wishes.organization, safe='')}" if wishes.organization else ""
    return f"{settings.GITHUB_URL}{owner}/settings/apps/new?{urlencode({'state': state})}"


def store_new_app(code: str, *, has_webhook: bool) -> GitHubApp:
    """Exchange the code that GitHub handed back, and store the App's credentials, encrypted.

    Without a webhook no delivery is taken in, whatever secret GitHub made. Raises `NotPossible`
    when there is an App already, or one of the four errors of GitHub's.
    """
    if github_app.known():
        raise NotPossible("This server has its GitHub App already.")
    facts = convert_manifest(api_url(settings.GITHUB_URL), code)
    try:
        with transaction.atomic():
            app = GitHubApp.objects.create(**_columns(facts, has_webhook=has_webhook))
            audit.record(None, AuditEvent.Deed.SET_UP, facts.slug, owner=facts.owner)
    except IntegrityError as error:
        raise NotPossible("This server has its GitHub App already.") from error
    return app


def renew_private_key(actor: User, pem: str) -> None:
    """Use another private key, once GitHub has accepted it. Raises `NotPossible`."""
    app = _stored()
    _check_readable(pem)
    try:
        AppClient(api_url(settings.GITHUB_URL), str(app.app_id), pem).app()
    except GitHubError as refusal:
        raise NotPossible(f"GitHub does not accept this key for {app.slug}. {refusal}") from refusal
    _renew(actor, "private key", private_key=vault.encrypt(pem))


def renew_client_secret(actor: User, secret: str) -> None:
    """Use another client secret, once GitHub has accepted it. Raises `NotPossible`."""
    app = _stored()
    try:
        is_good = accepts_client(settings.GITHUB_URL, app.client_id, secret)
    except Unavailable as outage:
        raise NotPossible(str(outage)) from outage
    if not is_good:
        raise NotPossible(
            f"GitHub does not accept this client secret for {app.slug}. Copy it anew from the "
            "App's page, where it is shown once when it is made."
        )
    _renew(actor, "client secret", client_secret=vault.encrypt(secret))


def renew_webhook_secret(actor: User, secret: str) -> None:
    """Use another webhook secret; the one before counts, too, while it is changed at GitHub.

    GitHub cannot be asked whether it fits. Raises `NotPossible`.
    """
    app = _stored()
    _renew(
        actor,
        "webhook secret",
        webhook_secret=vault.encrypt(secret),
        former_webhook_secret=app.webhook_secret,
        former_webhook_secret_until=now() + github_app.FORMER_SECRET_LASTS,
    )


def _columns(facts: NewAppFacts, *, has_webhook: bool) -> dict[str, str | int | bool]:
    return {
        "app_id": facts.id,
        "slug": facts.slug,
        "name": facts.name,
        "owner": facts.owner,
        "is_of_organization": facts.is_of_organization,
        "client_id": facts.client_id,
        "client_secret": vault.encrypt(facts.client_secret),
        "private_key": vault.encrypt(facts.private_key),
        "webhook_secret": vault.encrypt(facts.webhook_secret) if has_webhook else "",
    }


def _stored() -> GitHubApp:
    app = None if settings.GITHUB_APP_ID else GitHubApp.objects.first()
    if app is None:
        raise NotPossible(
            "The App's credentials come from this server's environment. Change them there, and "
            "restart the server and its workers."
        )
    return app


def _renew(actor: User, what: str, **columns: object) -> None:
    with transaction.atomic():
        GitHubApp.objects.update(**columns)
        audit.record(actor, AuditEvent.Deed.ROTATED, what)


def _check_readable(pem: str) -> None:
    try:
        is_good = isinstance(load_pem_private_key(pem.encode(), None), RSAPrivateKey)
    except (ValueError, TypeError):
        is_good = False
    if not is_good:
        raise NotPossible(
            "This is no RSA private key in PEM form. Paste the whole file that GitHub gave out, "
            "from -----BEGIN to END-----."
        )
