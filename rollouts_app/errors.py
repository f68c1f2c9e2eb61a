"""The four ways in which GitHub, by REST or by git, can fail us.

They are sorted by what the caller may do about them, not by status code: only `Gone` ever allows
anything to be removed, and a limit or an outage says nothing about access.
"""

from datetime import datetime


class GitHubError(Exception):
    """GitHub did not do what was asked. The message is a sentence that may be shown to people."""


class Gone(GitHubError):
    """The thing asked for is not there for us: deleted, or no longer within our access."""


class Denied(GitHubError):
    """GitHub knows who is asking and refuses: credentials, permission, suspension or policy."""


class RateLimited(GitHubError):
    """Too many requests. Nothing is wrong with the access; ask again at `retry_at` (UTC)."""

    def __init__(self, message: str, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class Unavailable(GitHubError):
    """No usable answer: network, time-out, server error or a broken body. Trying later may help."""
