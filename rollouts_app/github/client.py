"""What we ask GitHub by REST: as the App, as one installation, as a user.

Each method is one documented call and returns frozen dataclasses. All raise `Gone`, `Denied`,
`RateLimited` or `Unavailable`; iterators raise them while they are read, page by page.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from urllib.parse import quote

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from rollouts_app.addresses import GITHUB_COM
from rollouts_app.errors import Cause, Denied
from rollouts_app.github import app_shapes, shapes
from rollouts_app.github.app_shapes import AppFacts, DeliveryFacts, HookFacts, NewAppFacts
from rollouts_app.github.shapes import (
    InstallationFacts,
    InstallationToken,
    PermissionFacts,
    RateFacts,
    RepositoryFacts,
    RequestFacts,
    UserFacts,
)
from rollouts_app.github.transport import Transport

GITHUB_COM_API = "https://api.github.com"
# GitHub refuses tokens that are from its future or live for more than ten minutes, so both ends
# keep a distance from its clock.
BACKDATED_SECONDS = 60
LIFETIME_SECONDS = 9 * 60


@lru_cache(maxsize=4)
def _signing_key(pem: str) -> RSAPrivateKey:
    """Reading a private key takes some 50 ms, as its primes are checked: once is enough.

    Raises ValueError, TypeError or UnsupportedAlgorithm.
    """
    key = load_pem_private_key(pem.encode(), None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("not an RSA key")
    return key


def api_url(github_url: str) -> str:
    """The API's root of a host: an address of its own for github.com, /api/v3 anywhere else."""
    host = github_url.rstrip("/")
    return GITHUB_COM_API if host == GITHUB_COM else f"{host}/api/v3"


def convert_manifest(api_url: str, code: str) -> NewAppFacts:
    """The App that somebody registered from our manifest; the code is good once, for an hour.

    https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
    """
    path = f"/app-manifests/{quote(code, safe='')}/conversions"
    return Transport(api_url, None).one(app_shapes.read_new_app, "POST", path)


class AppClient:
    """GitHub as the App itself sees it."""

    def __init__(self, api_url: str, app_id: str | int, private_key: str) -> None:
        """`private_key` is the PEM text that GitHub gave out."""
        self._app_id = str(app_id)
        self._private_key = private_key
        self._transport = Transport(api_url, self._app_token, budget="app")

    def app(self) -> AppFacts:
        """https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app"""
        return self._transport.one(app_shapes.read_app, "GET", "/app")

    @property
    def ahead(self) -> timedelta | None:
        """How far this machine's clock is ahead of GitHub's, by its last answer."""
        return self._transport.ahead

    def hook(self) -> HookFacts:
        """https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app"""
        return self._transport.one(app_shapes.read_hook, "GET", "/app/hook/config")

    def installations(self) -> Iterator[InstallationFacts]:
        """https://docs.github.com/en/rest/apps/apps#list-installations-for-the-authenticated-app"""
        return self._transport.listed(shapes.read_installation, "/app/installations", "")

    def installation_requests(self) -> Iterator[RequestFacts]:
        """https://docs.github.com/en/rest/apps/apps#list-installation-requests-for-the-authenticated-app"""
        return self._transport.listed(shapes.read_request, "/app/installation-requests", "")

    def installation(self, id: int) -> InstallationFacts:
        """https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app"""
        return self._transport.one(shapes.read_installation, "GET", f"/app/installations/{id}")

    def installation_token(self, id: int) -> InstallationToken:
        """A new token; `Denied` while the installation is suspended, `Gone` after uninstalling.

        https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
        """
        path = f"/app/installations/{id}/access_tokens"
        return self._transport.one(shapes.read_token, "POST", path)

    def repository_installation(self, full_name: str) -> InstallationFacts:
        """The installation that reaches the repository "owner/name"; `Gone` when none does.

        https://docs.github.com/en/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app
        """
        path = f"/repos/{quote(full_name)}/installation"
        return self._transport.one(shapes.read_installation, "GET", path)

    def deliveries(self) -> Iterator[DeliveryFacts]:
        """Attempts to deliver the App's webhooks, the latest first; GitHub keeps them for days.

        https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
        """
        return self._transport.listed(app_shapes.read_delivery, "/app/hook/deliveries", "")

    def redeliver(self, id: int) -> None:
        """Have a delivery made again, under its old guid. `id` is that of an attempt.

        https://docs.github.com/en/rest/apps/webhooks#redeliver-a-delivery-for-an-app-webhook
        """
        self._transport.one(lambda _answer: None, "POST", f"/app/hook/deliveries/{id}/attempts")

    def _app_token(self) -> str:
        """https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app"""
        now = int(time.time())
        claims = {
            "iat": now - BACKDATED_SECONDS,
            "exp": now + LIFETIME_SECONDS,
            "iss": self._app_id,
        }
        try:
            return jwt.encode(claims, _signing_key(self._private_key), algorithm="RS256")
        except (ValueError, TypeError, UnsupportedAlgorithm, jwt.PyJWTError):
            # Without the cause: it may quote the key.
            raise Denied(
                "The GitHub App's private key cannot be read. Set it to the PEM file's text as"
                " GitHub gave it out, from BEGIN to END.",
                Cause.CREDENTIALS,
            ) from None


class InstallationClient:
    """GitHub as one installation sees it, with a token of `AppClient.installation_token`."""

    def __init__(self, api_url: str, token: str, number: int = 0) -> None:
        """`number` is GitHub's of the installation, by which its budget is watched."""
        budget = f"installation {number}" if number else ""
        self._transport = Transport(api_url, lambda: token, budget)

    def repositories(self) -> Iterator[RepositoryFacts]:
        """https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-app-installation"""
        path = "/installation/repositories"
        return self._transport.listed(shapes.read_repository, path, "repositories")

    def repository(self, full_name: str) -> RepositoryFacts:
        """By its name "owner/name"; a former name is followed to the repository.

        https://docs.github.com/en/rest/repos/repos#get-a-repository
        """
        return self._transport.one(shapes.read_repository, "GET", f"/repos/{quote(full_name)}")

    def repository_by_id(self, id: int) -> RepositoryFacts:
        """By its number, which renames and transfers do not change.

        The call is not in GitHub's reference, but it is where its own redirects for renamed
        repositories and its paging links lead.
        """
        return self._transport.one(shapes.read_repository, "GET", f"/repositories/{id}")

    def rate(self) -> RateFacts:
        """What is left of this hour's requests; asking costs none of them.

        https://docs.github.com/en/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user
        """
        return self._transport.one(shapes.read_rate, "GET", "/rate_limit")

    def person(self, login: str) -> UserFacts:
        """Anybody with an account, by login.

        https://docs.github.com/en/rest/users/users#get-a-user
        """
        return self._transport.one(shapes.read_user, "GET", f"/users/{quote(login, safe='')}")

    def person_by_id(self, id: int) -> UserFacts:
        """Anybody with an account, by its number, which a change of the login leaves alone.

        https://docs.github.com/en/rest/users/users#get-a-user-using-their-id
        """
        return self._transport.one(shapes.read_user, "GET", f"/user/{id}")

    def permission(self, full_name: str, login: str) -> PermissionFacts:
        """What somebody may do with a repository, by whatever way. Needs "Metadata: read".

        `Gone` when there is no such person, or no such repository for the installation.
        https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
        """
        path = f"/repos/{quote(full_name)}/collaborators/{quote(login, safe='')}/permission"
        return self._transport.one(shapes.read_permission, "GET", path)


class UserClient:
    """GitHub as one person sees it through the App, with that person's token."""

    def __init__(self, api_url: str, token: str) -> None:
        self._transport = Transport(api_url, lambda: token)

    def user(self) -> UserFacts:
        """https://docs.github.com/en/rest/users/users#get-the-authenticated-user"""
        return self._transport.one(shapes.read_user, "GET", "/user")

    def person(self, login: str) -> UserFacts:
        """Anybody with an account, by login.

        https://docs.github.com/en/rest/users/users#get-a-user
        """
        return self._transport.one(shapes.read_user, "GET", f"/users/{quote(login, safe='')}")

    def installations(self) -> Iterator[InstallationFacts]:
        """The App's installations on accounts that the person may reach.

        https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
        """
        path = "/user/installations"
        return self._transport.listed(shapes.read_installation, path, "installations")

    def repository(self, full_name: str) -> RepositoryFacts:
        """By its name "owner/name", as far as the person and the App may see it, or it is public.

        https://docs.github.com/en/rest/repos/repos#get-a-repository
        """
        return self._transport.one(shapes.read_repository, "GET", f"/repos/{quote(full_name)}")

    def repositories(self, installation_id: int) -> Iterator[RepositoryFacts]:
        """What both the person and the installation may reach, with the person's permissions.

        https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
        """
        path = f"/user/installations/{installation_id}/repositories"
        return self._transport.listed(shapes.read_repository, path, "repositories")

    def generate(self, template: str, owner: str, name: str) -> RepositoryFacts:
        """Create a private repository from a template. Needs "Administration: write".

        Its branches appear a moment after the answer. `Denied` when the App or the person may not,
        or when the name is taken.
        https://docs.github.com/en/rest/repos/repos#create-a-repository-using-a-template
        """
        body = {"owner": owner, "name": name, "private": True}
        path = f"/repos/{quote(template)}/generate"
        return self._transport.one(shapes.read_repository, "POST", path, body)
