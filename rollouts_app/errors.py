"""The four ways in which GitHub, by REST or by git, can fail us.

They are sorted by what the caller may do about them, not by status code: only `Gone` ever allows
anything to be removed, and a limit or an outage says nothing about access.
"""

import re
from datetime import datetime
from enum import StrEnum


class GitHubError(Exception):
    """GitHub did not do what was asked. The message is a sentence that may be shown to people."""


class Gone(GitHubError):
    """The thing asked for is not there for us: deleted, or no longer within our access."""


class Cause(StrEnum):
    """Why access is refused, by what helps."""

    CREDENTIALS = "credentials"
    SUSPENDED = "suspended"
    PERMISSION = "permission"
    POLICY = "policy"
    UNKNOWN = "unknown"


WORDS = {
    Cause.SUSPENDED: re.compile(r"suspended", re.IGNORECASE),
    Cause.POLICY: re.compile(
        r"IP allow list|\bSAML\b|single sign-on|\bSSO\b|two-factor|access restrictions"
        r"|(?:organization|enterprise) (?:policy|forbids)",
        re.IGNORECASE,
    ),
    Cause.PERMISSION: re.compile(r"not accessible by integration|not granted", re.IGNORECASE),
}


def cause_in(words: str) -> Cause:
    """The cause that GitHub's words name, which are the same by REST and by git."""
    return next((cause for cause, known in WORDS.items() if known.search(words)), Cause.UNKNOWN)


class Denied(GitHubError):
    """GitHub knows who is asking and refuses: credentials, permission, suspension or policy.

    `cause` says which, as far as GitHub tells.
    """

    def __init__(self, message: str, cause: Cause) -> None:
        super().__init__(message)
        self.cause = cause


class RateLimited(GitHubError):
    """Too many requests. Nothing is wrong with the access; ask again at `retry_at` (UTC)."""

    def __init__(self, message: str, retry_at: datetime) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class Unavailable(GitHubError):
    """No usable answer: network, time-out, server error or a broken body. Trying later may help."""
