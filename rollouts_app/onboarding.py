"""First steps: start a workspace, and clone its repository."""

from shlex import quote
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from rollouts_app import audit
from rollouts_app.addresses import is_loopback
from rollouts_app.models import Membership, User, Workspace
from rollouts_app.refusals import NotPossible


def start_workspace(user: User, slug: str) -> Workspace:
    """Create a workspace that the user owns. The slug must have been validated.

    Raises `NotPossible` when the slug was taken in the meantime.
    """
    try:
        with transaction.atomic():
            workspace = Workspace.objects.create(slug=slug)
            Membership.objects.create(workspace=workspace, user=user, role=Membership.Role.OWNER)
            audit.record(user, audit.Deed.CREATED_WORKSPACE, slug, workspace=workspace)
    except IntegrityError as error:
        raise NotPossible(f"The name {slug} is taken. Choose another one.") from error
    return workspace


def clone_commands(github_url: str, full_name: str) -> dict[str, str]:
    """The ways to clone, by their names: HTTPS, SSH, GitHub CLI."""
    address = urlsplit(github_url)
    host = address.netloc
    repository = full_name if host == "github.com" else f"{host}/{full_name}"
    return {
        "HTTPS": f"git clone {quote(f'{github_url}/{full_name}.git')}",
        "SSH": f"git clone {quote(f'git@{address.hostname}:{full_name}.git')}",
        "GitHub CLI": f"gh repo clone {quote(repository)}",
    }


def cli_address(public_url: str) -> str:
    """The lines of a shell that point the osmosis command at this server."""
    lines = [f"export OSMOSIS_PLATFORM_URL={quote(public_url)}"]
    if is_insecure(public_url):
        lines.append("export OSMOSIS_ALLOW_INSECURE_PLATFORM_URL=1")
    return "\n".join(lines)


def is_insecure(public_url: str) -> bool:
    """Whether the osmosis command refuses the address until told not to: without TLS, and not on
    the same machine.
    """
    return urlsplit(public_url).scheme == "http" and not is_loopback(public_url)
