"""Git's words → our errors. Pure: standard error in, an error with a sentence out."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from rollouts_app.errors import Cause, Denied, GitHubError, Gone, RateLimited, Unavailable, cause_in

PATIENCE_SECONDS = 60  # where a limit comes without a time
LONGEST_WAIT_SECONDS = 7200
LONGEST_QUOTE = 300  # characters
NO_ROOM = (
    "The disk that holds this server's git cache is full. Its administrator can free space on it,"
    " or set GIT_CACHE_BYTES lower; Git Sync then goes on by itself."
)

TRACE_LINE = re.compile(r"^\d\d:\d\d:\d\d\.\d+ .*\n?", re.MULTILINE)
RECEIVED = re.compile(r"^\d\d:\d\d:\d\d\.\d+ .*<= Recv header: (.*)$", re.MULTILINE)
SMART_ANSWER = ": application/x-git-upload-pack-"
STATUS = re.compile(r"The requested URL returned error: (\d{3})|RPC failed; HTTP (\d{3})")
REDIRECTS = ("301", "302", "307", "308")
REMOTE = re.compile(r"^remote: *(.*)$", re.MULTILINE)
LIMIT_WORDS = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


class Unreadable(Exception):
    """A commit that cannot be read however often it is tried, while its neighbours can.

    The message is a sentence that may be shown to people.
    """


class Vanished(Unavailable):
    """A commit that was asked for is no longer at the host, so nothing of this fetch came.

    List the heads again and fetch those. It says nothing about the repository, hence it is no
    `Gone`. `commit` is the id that the host named, empty when it named none.
    """

    def __init__(self, message: str, commit: str) -> None:
        super().__init__(message)
        self.commit = commit


class TooLarge(Unavailable):
    """What should have been fetched takes more room than we allow."""


class DiskFull(Unavailable):
    """There is no room on our own disk."""


class Unusable(Unavailable):
    """Our own git, or the folder of its caches, cannot be used: the host is not to blame."""


class Unsound(Unavailable):
    """The host sent an object that fails git's checks; `fault` is git's name for what is wrong."""

    def __init__(self, message: str, fault: str) -> None:
        super().__init__(message)
        self.fault = fault


class Corrupt(Unavailable):
    """The cache is damaged, or seems so; it can be made anew."""


def refusal(stderr: str, host: str, now: datetime) -> GitHubError:
    """The error that a failed git means. `stderr` may hold git's trace of the HTTP headers.

    `host` is named in the sentences; `now` is in UTC.
    """
    words = TRACE_LINE.sub("", stderr)
    status = STATUS.search(words)
    if status:
        seconds = _retry_after(_received(stderr))
        return _by_status(int(status[1] or status[2]), words, host, now, seconds)
    for pattern, error in BY_WORDS:
        match = pattern.search(words)
        if match:
            return error(match, host, _said(words))
    # Nobody knows: a new cache does no harm, and helps where ours is at fault.
    return Corrupt(f"git failed at {host}{_said(words)}. Trying again later may help.")


def is_smart(stderr: str) -> bool:
    """Whether git's HTTP trace shows an answer in git's own protocol."""
    return any(SMART_ANSWER in line for line in RECEIVED.findall(stderr))


def moved_to(stderr: str) -> str | None:
    """Where a redirect leads, as the address of a repository; None when it was another failure."""
    status = STATUS.search(TRACE_LINE.sub("", stderr))
    if status is None or (status[1] or status[2]) not in REDIRECTS:
        return None
    return _received(stderr).get("location", "").partition("/info/refs")[0] or None


def _received(stderr: str) -> dict[str, str]:
    """The headers of the last answer in git's HTTP trace, names in lower case."""
    headers: dict[str, str] = {}
    for line in RECEIVED.findall(stderr):
        if line.startswith("HTTP/"):
            headers = {}
        else:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
    return headers


def _by_status(status: int, words: str, host: str, now: datetime, seconds: int) -> GitHubError:
    said = f"{host} answered {status} to git{_said(words)}."
    if status == 429 or (status == 403 and LIMIT_WORDS.search(words)):
        retry_at = now + timedelta(seconds=seconds)
        return RateLimited(
            f"{host} limits our requests; they go on at {retry_at:%H:%M:%S} UTC. {said}", retry_at
        )
    if status in (404, 410):
        return Gone(f"{said} The repository was deleted, or our access to it was taken away.")
    if status in (401, 403, 451):
        cause = Cause.CREDENTIALS if status == 401 else cause_in(words)
        return Denied(
            f"{said} Check that the App is not suspended and may read the contents.", cause
        )
    return Unavailable(f"{said} Trying again later may help.")


def _retry_after(headers: Mapping[str, str]) -> int:
    value = headers.get("retry-after", "")
    return min(int(value), LONGEST_WAIT_SECONDS) if value.isdecimal() else PATIENCE_SECONDS


def _said(words: str) -> str:
    """What the host said, else git's last line, as one short quotation with a colon before it."""
    lines = REMOTE.findall(words) or words.strip().splitlines()[-1:]
    quote = " ".join(" ".join(lines).split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in quote)
    return f': "{shown[:LONGEST_QUOTE].rstrip(".")}"' if shown else ""


def _refused(_match: re.Match[str], host: str, _said: str) -> GitHubError:
    return Denied(
        f"{host} does not accept our credentials for this repository. Check that the App is"
        " installed on it and not suspended.",
        Cause.CREDENTIALS,
    )


def _not_found(_match: re.Match[str], host: str, said: str) -> GitHubError:
    return Gone(
        f"{host} has no such repository for us{said}. It was deleted, or our access to it was"
        " taken away."
    )


def _vanished(match: re.Match[str], host: str, _said: str) -> GitHubError:
    commit = match["id"]
    return Vanished(
        f"{host} no longer has {commit[:12]}: its branch was moved or deleted meanwhile. The next"
        " sync looks at the branches anew.",
        commit,
    )


def _disk_full(_match: re.Match[str], _host: str, _said: str) -> GitHubError:
    return DiskFull(NO_ROOM)


def _not_ours(_match: re.Match[str], _host: str, said: str) -> GitHubError:
    return Unusable(
        f"git may not write into its cache on this server{said}. Correct the rights of DATA_DIR."
    )


def _too_large(_match: re.Match[str], host: str, _said: str) -> GitHubError:
    return TooLarge(f"What {host} sends is larger than this server allows for one fetch.")


def _corrupt(_match: re.Match[str], _host: str, said: str) -> GitHubError:
    return Corrupt(f"The git cache of this repository is damaged{said}.")


def _no_https(_match: re.Match[str], _host: str, _said: str) -> GitHubError:
    return Denied(
        "Repositories are read by https only (by http from this machine alone). Set GITHUB_URL to"
        " an address that begins with https://.",
        Cause.UNKNOWN,
    )


def _no_name(_match: re.Match[str], host: str, _said: str) -> GitHubError:
    return Unavailable(
        f"This server cannot find the address of {host}. Check its network and name service."
    )


def _no_trust(_match: re.Match[str], host: str, said: str) -> GitHubError:
    return Unavailable(
        f"No safe connection to {host} could be made{said}. Check the certificate of the host and"
        " the authorities this server trusts (GIT_SSL_CAINFO)."
    )


def _no_connection(_match: re.Match[str], host: str, said: str) -> GitHubError:
    return Unavailable(f"{host} cannot be reached{said}. Check this server's network.")


def _unsound(match: re.Match[str], host: str, _said: str) -> GitHubError:
    return Unsound(
        f"{host} sent an object that git considers unsound ({match['fault']} in"
        f" {match['id'][:12]}). Mend the branch that holds it: `git fsck` in a clone tells more.",
        match["fault"],
    )


def _cut(_match: re.Match[str], host: str, said: str) -> GitHubError:
    return Unavailable(f"The answer of {host} broke off{said}. Trying again later may help.")


# The first that is found decides, so causes stand before the consequences git also reports.
BY_WORDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str, str], GitHubError]], ...] = (
    (re.compile(r"No space left on device|Disk quota exceeded"), _disk_full),
    (re.compile(r"File too large"), _too_large),
    (re.compile(r"insufficient permission for adding|Read-only file system"), _not_ours),
    (re.compile(r"(?:not our ref|unadvertised object) (?P<id>[0-9a-f]*)"), _vanished),
    (re.compile(r"[Rr]epository (?:'[^']*' )?not found"), _not_found),
    (re.compile(r"could not read (?:Username|Password)|Authentication failed"), _refused),
    (re.compile(r"transport '[^']*' not allowed"), _no_https),
    (re.compile(r"Could not resolve (?:host|proxy)"), _no_name),
    (re.compile(r"SSL|TLS|gnutls|certificate"), _no_trust),
    (re.compile(r"error: object (?P<id>[0-9a-f]+): (?P<fault>\w+)"), _unsound),
    (
        re.compile(r"Failed to connect|Connection refused|timed out"),
        _no_connection,
    ),
    (re.compile(r"early EOF|hung up|disconnect|transfer closed|Empty reply|reset by peer"), _cut),
    (re.compile(r"Operation too slow|Recv failure|bytes of body are still expected"), _cut),
    (
        re.compile(r"corrupt|inflate|garbage|too small|bad object|bad config|index-pack failed"),
        _corrupt,
    ),
    # What it holds is sent again under the same name, and git keeps the old index.
    (re.compile(r"did not send all necessary objects"), _corrupt),
    (re.compile(r"not a git repository|unable to (?:read|parse|open)|index unavailable"), _corrupt),
)
