"""What the host refuses, and how it fails: one of the four errors, with a sentence."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rollouts_app.errors import Denied, GitHubError, Gone, RateLimited, Unavailable
from rollouts_app.gitstore import GitStore, Limits
from rollouts_app.gitstore.refusals import Corrupt, DiskFull, Unsound, Unusable, refusal
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import MakeStore

HOST = "127.0.0.1"
UPLOAD_PACK = re.compile(r"\.git/git-upload-pack$")
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
SOON = timedelta(seconds=5)


def refused(store: GitStore) -> GitHubError:
    """The error of asking for the heads: its class is that of the contract, not a finer one."""
    with pytest.raises(GitHubError) as caught:
        store.heads()
    return caught.value


def test_a_wrong_token_is_denied(make_store: MakeStore) -> None:
    error = refused(make_store(token="ghs_wrong"))
    assert type(error) is Denied
    assert str(error) == (
        f"{HOST} does not accept our credentials for this repository. Check that the App is"
        " installed on it and not suspended."
    )


def test_no_token_is_denied(make_store: MakeStore) -> None:
    assert type(refused(make_store(token=None))) is Denied


def test_an_expired_token_is_denied(store: GitStore, github: GitHubEmulator) -> None:
    github.expire_tokens()
    assert type(refused(store)) is Denied


def test_a_suspended_installation_is_denied(store: GitStore, github: GitHubEmulator) -> None:
    github.suspend(next(iter(github.state.installations)))
    assert type(refused(store)) is Denied


def test_a_missing_repository_is_gone(make_store: MakeStore) -> None:
    error = refused(make_store("acme/nothing"))
    assert type(error) is Gone
    assert str(error) == (
        f'{HOST} has no such repository for us: "Repository not found". It was deleted, or our'
        " access to it was taken away."
    )


def test_a_deleted_repository_is_gone(store: GitStore, github: GitHubEmulator) -> None:
    head = store.heads()["main"]
    github.delete_repository("acme/agents")
    assert type(refused(store)) is Gone
    with pytest.raises(Gone):
        store.fetch([head])


def test_a_repository_out_of_reach_is_gone(store: GitStore, github: GitHubEmulator) -> None:
    github.create_repository("acme/other", files={"a": "b"})
    github.select_repositories(next(iter(github.state.installations)), ["acme/other"])
    assert type(refused(store)) is Gone


@pytest.mark.parametrize("where", ["/acme/agents.git", UPLOAD_PACK])
def test_it_waits_as_long_as_the_limit_says(
    store: GitStore, github: GitHubEmulator, where: str | re.Pattern[str]
) -> None:
    github.trouble(where, status=429, headers={"Retry-After": "17"})
    error = refused(store)
    assert isinstance(error, RateLimited)
    assert abs(error.retry_at - datetime.now(UTC) - timedelta(seconds=17)) < SOON
    assert str(error).startswith(f"{HOST} limits our requests; they go on at ")


def test_a_limit_without_a_time_is_a_minute(store: GitStore, github: GitHubEmulator) -> None:
    github.trouble("/acme/agents.git", status=429, headers={"Retry-After": "soon"})
    error = refused(store)
    assert isinstance(error, RateLimited)
    assert abs(error.retry_at - datetime.now(UTC) - timedelta(seconds=60)) < SOON


def test_a_403_that_speaks_of_a_limit_is_one(store: GitStore, github: GitHubEmulator) -> None:
    words = "You have exceeded a secondary rate limit."
    github.trouble("/acme/agents.git", status=403, body=words)
    assert type(refused(store)) is RateLimited


def test_a_policy_is_denied_with_the_host_s_own_words(
    store: GitStore, github: GitHubEmulator
) -> None:
    words = "The 'acme' organization has an IP allow list enabled."
    github.trouble("/acme/agents.git", status=403, body=words)
    error = refused(store)
    assert type(error) is Denied
    assert words.rstrip(".") in str(error)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_failing_host_is_unavailable(
    store: GitStore, github: GitHubEmulator, status: int
) -> None:
    github.trouble("/acme/agents.git", status=status, times=1, body="Sorry.")
    error = refused(store)
    assert type(error) is Unavailable
    assert str(error) == (f'{HOST} answered {status} to git: "Sorry". Trying again later may help.')
    assert store.heads() == github.heads("acme/agents")


@pytest.mark.parametrize("status", [401, 404, 410, 429, 500])
def test_a_fetch_fails_like_a_listing(store: GitStore, github: GitHubEmulator, status: int) -> None:
    head = store.heads()["main"]
    github.trouble(UPLOAD_PACK, status=status)
    kind = {401: Denied, 404: Gone, 410: Gone, 429: RateLimited, 500: Unavailable}[status]
    with pytest.raises(kind) as caught:
        store.fetch([head])
    assert type(caught.value) is kind


@pytest.mark.parametrize("cut", [0, 1, 20, 60, 200])
def test_an_answer_that_breaks_off_is_unavailable(
    store: GitStore, github: GitHubEmulator, cut: int
) -> None:
    head = store.heads()["main"]
    trouble = github.trouble(UPLOAD_PACK, cut=cut)
    with pytest.raises(Unavailable) as caught:
        store.fetch([head])
    assert type(caught.value) is Unavailable
    trouble.end()
    store.fetch([head])
    assert store.tree(head, "rollouts") is not None


@pytest.mark.parametrize("where", ["/acme/agents.git", UPLOAD_PACK])
@pytest.mark.parametrize("cut", [0, 1, 20, 60])
def test_half_a_listing_is_no_listing(
    store: GitStore, github: GitHubEmulator, where: str | re.Pattern[str], cut: int
) -> None:
    github.trouble(where, cut=cut)
    assert type(refused(store)) is Unavailable


def test_a_page_in_place_of_a_repository_is_unavailable(
    store: GitStore, github: GitHubEmulator
) -> None:
    github.trouble(
        "/acme/agents.git", status=200, headers={"Content-Type": "text/html"}, body="<p>Log in</p>"
    )
    assert type(refused(store)) is Unavailable


def test_a_slow_answer_ends_at_the_time_limit(
    make_store: MakeStore, github: GitHubEmulator
) -> None:
    github.trouble("/acme/agents.git", delay=20)
    started = time.monotonic()
    error = refused(make_store(limits=Limits(heads_seconds=0.5)))
    assert time.monotonic() - started < 5
    assert type(error) is Unavailable
    assert str(error) == (
        f"{HOST} did not finish answering git within 0.5 s. Trying again later may help."
    )


def test_silence_ends_before_the_time_limit(make_store: MakeStore, github: GitHubEmulator) -> None:
    github.trouble("/acme/agents.git", delay=20)
    started = time.monotonic()
    error = refused(make_store(limits=Limits(silence_seconds=1)))
    assert time.monotonic() - started < 10
    assert type(error) is Unavailable


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("https://host.invalid/acme/agents.git", Unavailable, "cannot find the address of host.in"),
        ("http://127.0.0.1:1/acme/agents.git", Unavailable, "127.0.0.1 cannot be reached"),
        ("http://192.0.2.1/acme/agents.git", Denied, "read by https only"),
        ("ssh://127.0.0.1/acme/agents.git", Denied, "read by https only"),
        ("file:///etc", Denied, "read by https only"),
    ],
)
def test_it_names_what_is_wrong_with_an_address(
    cache: Path, url: str, kind: type[GitHubError], words: str
) -> None:
    error = refused(GitStore(cache, url, "secret"))
    assert type(error) is kind
    assert words in str(error)


def test_it_names_a_host_without_tls(cache: Path, github: GitHubEmulator) -> None:
    error = refused(GitStore(cache, f"https://127.0.0.1:{github.port}/acme/agents.git", "secret"))
    assert type(error) is Unavailable
    assert "No safe connection" in str(error)


def test_it_takes_no_address_with_credentials(cache: Path) -> None:
    with pytest.raises(ValueError, match="pass the token by itself"):
        GitStore(cache, "https://user:secret@host.example/a/b.git")


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        ("fatal: write error: No space left on device", DiskFull, "cache is full"),
        ("fatal: cannot mkdir x: Disk quota exceeded", DiskFull, "cache is full"),
        (
            "fatal: cannot mkdir x: Read-only file system",
            Unusable,
            "Correct the rights of DATA_DIR",
        ),
        (
            "error: insufficient permission for adding an object to repository database objects",
            *(Unusable, "may not write into its cache"),
        ),
        ("error: SSL certificate problem: self-signed certificate", Unavailable, "certificate"),
        ("error: object 12ab: hasDotgit: contains '.git'", Unsound, "unsound (hasDotgit in 12ab)"),
        ("error: packfile x.pack is corrupt", Corrupt, "is damaged"),
        ("fatal: a message of a later git", Corrupt, "a message of a later git"),
        ("", Corrupt, "git failed at github.com. Trying again later may help."),
    ],
)
def test_it_understands_git(words: str, kind: type[GitHubError], sentence: str) -> None:
    error = refusal(words, "github.com", NOW)
    assert type(error) is kind
    assert sentence in str(error)


def test_what_a_host_says_is_short_and_harmless() -> None:
    words = (
        "remote: \x1b[31mred\x07 "
        + "very " * 200
        + "\nfatal: x: The requested URL returned error: 500"
    )
    sentence = str(refusal(words, "github.com", NOW))
    assert sentence.isprintable()
    assert len(sentence) < 500
