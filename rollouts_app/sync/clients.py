"""Who may act where: clients and stores with the right token for an installation."""

from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils.timezone import now

from rollouts_app import github_app, vault
from rollouts_app.github import AppClient, InstallationClient, api_url
from rollouts_app.gitstore import GitStore, Shelf
from rollouts_app.models import Installation, Repository

# A token is renewed while it still has time for a long fetch.
TOKEN_MARGIN = timedelta(minutes=10)


def app_client() -> AppClient:
    """A client that speaks as the GitHub App itself. Raises Denied before the first run."""
    app = github_app.credentials()
    return AppClient(api_url(settings.GITHUB_URL), app.app_id, app.private_key)


def client_for(installation: Installation) -> InstallationClient:
    """A client that speaks as one installation."""
    token = token_for(installation)
    return InstallationClient(api_url(settings.GITHUB_URL), token, installation.github_id)


def token_for(installation: Installation, *, renew: bool = False) -> str:
    """The installation's token: kept encrypted while it lasts, asked for when it does not.

    Raises the errors of `AppClient.installation_token`.
    """
    name = f"installation-token-{installation.github_id}"
    kept = None if renew else vault.recall(name)
    if kept:
        return kept
    token = app_client().installation_token(installation.github_id)
    lasts = token.expires_at - now() - TOKEN_MARGIN
    vault.keep(name, token.token, seconds=max(lasts.total_seconds(), 0))
    return token.token


def store_for(repository: Repository) -> GitStore:
    """The git cache of a repository, with a token that may read it."""
    return GitStore(
        cache_folder(repository),
        f"{settings.GITHUB_URL}/{repository.full_name}.git",
        token_for(repository.installation),
        shelf=shelf(),
    )


def cache_folder(repository: Repository) -> Path:
    """Where the repository's git cache lies, by GitHub's number: a rename moves nothing."""
    return shelf_folder() / str(repository.github_id)


def shelf() -> Shelf:
    """All git caches on this machine."""
    return Shelf(shelf_folder())


def shelf_folder() -> Path:
    folder: Path = settings.DATA_DIR / "git"
    return folder
