"""Addresses of GitHub's web pages. Pure: nothing is asked.

`github_url` is the root of the host (https://github.com, or that of a GitHub Enterprise Server);
`repository` the address of a repository's page, as `repository_page` makes it. Names are given as
git has them (bytes that are not UTF-8 as surrogate escapes) and are percent-encoded here, once.
"""

from hashlib import sha256
from urllib.parse import quote, urlencode, urlsplit

GITHUB_COM = "https://github.com"
# The file of a rollout whose changes tell most.
TELLING_FILE = "main.py"


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine, as the demo's GitHub is."""
    return urlsplit(address).hostname in {"127.0.0.1", "localhost", "::1"}


def repository_page(github_url: str, full_name: str) -> str:
    """The page of the repository "owner/name"."""
    return f"{github_url.rstrip('/')}/{_path(full_name)}"


def tree_page(repository: str, commit: str, path: str = "") -> str:
    """A directory at a commit; without a path the repository's root."""
    return "/".join(part for part in (repository, "tree", _segment(commit), _path(path)) if part)


def blob_page(repository: str, commit: str, path: str, line: int | None = None) -> str:
    """A file at a commit, at a line if one is given (counted from 1)."""
    page = f"{repository}/blob/{_segment(commit)}/{_path(path)}"
    # Without plain=1 GitHub shows a README as rendered, where lines cannot be pointed at.
    return page if line is None else f"{page}?plain=1#L{line}"


def commit_page(repository: str, commit: str) -> str:
    """One commit with its changes."""
    return f"{repository}/commit/{_segment(commit)}"


def folder_diff(repository: str, base: str, head: str, path: str) -> str:
    """How a rollout's directory differs between two commits, at its most telling file.

    GitHub has no comparison of one directory alone, but marks each file by its path's SHA-256.
    Two dots compare the commits as they are, three would leave out what only `base` has.
    """
    file = f"{path}/{TELLING_FILE}".encode(errors="surrogateescape")
    page = f"{repository}/compare/{_segment(base)}..{_segment(head)}"
    return f"{page}#diff-{sha256(file).hexdigest()}"


def history_page(repository: str, commit: str, path: str) -> str:
    """The commits that changed a directory or file, from a commit back."""
    return f"{repository}/commits/{_segment(commit)}/{_path(path)}"


def app_page(github_url: str, app_slug: str) -> str:
    """The App's own page; its owner finds the way to its settings there."""
    host = github_url.rstrip("/")
    folder = "apps" if host == GITHUB_COM else "github-apps"
    return f"{host}/{folder}/{_segment(app_slug)}"


def new_installation_page(github_url: str, app_slug: str, state: str = "") -> str:
    """Where the App gets installed. GitHub hands `state` back to the setup address.

    https://docs.github.com/en/apps/sharing-github-apps/sharing-your-github-app
    """
    query = f"?{urlencode({'state': state})}" if state else ""
    return f"{app_page(github_url, app_slug)}/installations/new{query}"


def installation_page(github_url: str, account_login: str, account_type: str, id: int) -> str:
    """The settings of an installation: which repositories, permissions, suspend, uninstall."""
    host = github_url.rstrip("/")
    if account_type == "Organization":
        return f"{host}/organizations/{_segment(account_login)}/settings/installations/{id}"
    return f"{host}/settings/installations/{id}"


def requests_page(github_url: str, account_login: str) -> str:
    """Where owners of an organization see the requests for Apps that wait for them.

    https://docs.github.com/en/apps/using-github-apps/reviewing-github-app-installation-requests
    """
    host = github_url.rstrip("/")
    return f"{host}/organizations/{_segment(account_login)}/settings/installations"


def app_deliveries_page(github_url: str, app_slug: str) -> str:
    """The App's own list of what it delivered, with each answer. Only its owner sees the page.

    https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries
    """
    return f"{github_url.rstrip('/')}/settings/apps/{_segment(app_slug)}/advanced"


def _path(path: str) -> str:
    return "/".join(_segment(segment) for segment in path.split("/"))


def _segment(name: str) -> str:
    return quote(name, safe="", errors="surrogateescape")
