"""Talking with the host of one repository by git: address, token, redirects, errors."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit

from rollouts_app.addresses import is_loopback
from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.command import Call, Ended, Failed, TimeIsUp, run
from rollouts_app.gitstore.folder import Folder
from rollouts_app.gitstore.limits import Limits
from rollouts_app.gitstore.refusals import Unsound, is_smart, moved_to, refusal

LIST_HEADS = ("ls-remote", "--heads", "origin")
FETCH = (
    *("fetch", "-q", "--filter=blob:none", "--no-tags", "--no-write-fetch-head"),
    *("--recurse-submodules=no", "--stdin"),
)
NOTHING_IN_COMMON = {"fetch.negotiationAlgorithm": "noop"}
MOST_REDIRECTS = 3
MOST_TIPS = 1_000  # they are arguments
# Faults that harm nobody here, the rest of fsck stays an error: those of long ago in names and
# dates, and names that could only hurt a checkout.
HARMLESS_FAULTS = (
    *("badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail"),
    *("missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail"),
    *("multipleAuthors", "zeroPaddedDate", "zeroPaddedFilemode"),
    *("emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit", "largePathname"),
    *("gitattributesBlob", "gitattributesLarge", "gitattributesLineLength"),
    *("gitattributesMissing", "gitattributesSymlink", "gitignoreSymlink", "mailmapSymlink"),
    *("gitmodulesBlob", "gitmodulesLarge", "gitmodulesMissing", "gitmodulesName"),
    *("gitmodulesParse", "gitmodulesPath", "gitmodulesSymlink", "gitmodulesUpdate"),
    *("gitmodulesUrl", "symlinkPointsToGitDir", "symlinkTargetBlob", "symlinkTargetLength"),
)
UNCHECKED = {"fetch.fsckObjects": "false"}
SETTINGS = {
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "protocol.version": "2",
    # Followed here instead: git would send the token to whatever host the first answer names.
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.postBuffer": "16m",
    "fetch.fsckObjects": "true",
    **{f"fetch.fsck.{fault}": "warn" for fault in HARMLESS_FAULTS},
}


class Remote:
    """The host's side of a cache."""

    def __init__(self, folder: Folder, url: str, token: str | None, limits: Limits) -> None:
        address = urlsplit(url)
        if address.username or address.password:
            raise ValueError("an address with credentials in it: pass the token by itself")
        self._folder = folder
        self._url = url
        self._token = token
        self._basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        self._limits = limits
        self._host = address.hostname or url
        self._is_loopback = is_loopback(url)

    def heads(self, lock: int) -> bytes:
        """The lines of `git ls-remote`: id, tab, name of the ref."""
        answer = self._ask(self._call(LIST_HEADS, lock, self._limits.heads_seconds), {})
        if not is_smart(answer.stderr):
            # Git takes any page for the listing of a simpler protocol: one without branches.
            raise Unavailable(
                f"{self._host} did not answer as a git host does. Check that no proxy or login"
                " page stands between, and GITHUB_URL."
            )
        return answer.stdout

    def fetch(
        self,
        ids: Sequence[str],
        lock: int,
        most_bytes: int,
        *,
        depth: int | None = None,
        tips: Sequence[str] = (),
    ) -> None:
        """Bring objects by their ids, without files but those named, in a pack of `most_bytes`.

        `tips` are commits of the cache from which the host may send the difference; without them
        the host is told of nothing, as otherwise it holds back what it thinks we have.
        """
        tips = tips[:MOST_TIPS]
        self._folder.write_shallow(tips)
        options = [f"--negotiation-tip={tip}" for tip in tips]
        if depth is not None:
            options.append(f"--depth={depth}")
        call = replace(
            self._call([*FETCH, *options, "origin"], lock, self._limits.fetch_seconds),
            stdin="\n".join(ids).encode() + b"\n",
            most_file_bytes=most_bytes,
        )
        settings = {} if tips else NOTHING_IN_COMMON
        try:
            self._ask(call, settings)
        except Unsound as error:
            if error.fault not in HARMLESS_FAULTS:
                raise
            # Before 2.44 or so, git did not apply the levels set above to partial fetches.
            self._ask(call, settings | UNCHECKED)

    def _call(self, arguments: Sequence[str], lock: int, seconds: float) -> Call:
        return Call(
            secrets=[self._token, self._basic] if self._token else [],
            arguments=arguments,
            repository=self._folder.git,
            home=self._folder.home,
            seconds=seconds,
            most_bytes=self._limits.answer_bytes,
            protocols="http:https" if self._is_loopback else "https",
            trace=True,
            lock=lock,
        )

    def _ask(self, call: Call, settings: Mapping[str, str]) -> Ended:
        """Run git with our settings for the host and these; its refusals leave as our errors.

        A repository that was renamed is found under its new address, on the same host only.
        """
        for _hop in range(MOST_REDIRECTS + 1):
            try:
                return run(replace(call, settings={**self._settings(), **settings}))
            except TimeIsUp:
                raise Unavailable(
                    f"{self._host} did not finish answering git within {call.seconds:g} s. Trying"
                    " again later may help."
                ) from None
            except Failed as failure:
                self._follow(failure)
        raise Unavailable(f"{self._host} redirects git in circles. Check the repository's name.")

    def _settings(self) -> dict[str, str]:
        settings = {
            **SETTINGS,
            "remote.origin.url": self._url,
            "http.lowSpeedTime": str(self._limits.silence_seconds),
        }
        if self._token:
            settings["http.extraHeader"] = f"Authorization: Basic {self._basic}"
        if self._is_loopback:
            settings["http.proxy"] = ""
        return settings

    def _follow(self, failure: Failed) -> None:
        """Take the new address that a failure names; raise the error that any other means."""
        target = moved_to(failure.stderr)
        if target is None:
            raise refusal(failure.stderr, self._host, datetime.now(UTC)) from None
        address = urljoin(self._url, target)
        if urlsplit(address)[:2] != urlsplit(self._url)[:2]:
            raise Unavailable(
                f"{self._host} redirects git to another host, {urlsplit(address).hostname}, where"
                " our token must not go. Check GITHUB_URL."
            )
        self._url = address
