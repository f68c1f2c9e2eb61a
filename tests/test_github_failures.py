"""How GitHub's API fails: one of the four errors, with a sentence and no secret."""

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rollouts_app.errors import Denied, GitHubError, Gone, RateLimited, Unavailable
from rollouts_app.github import UserClient, api_url
from rollouts_app.github.refusals import refusal
from tests.github_emulator import GitHubEmulator

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
RESET = str(int((NOW + timedelta(minutes=20)).timestamp()))
ADDRESS = "/api/v3/user"


@pytest.fixture
def ada(github: GitHubEmulator) -> UserClient:
    return UserClient(api_url(github.url), github.user_token("ada"))


def failure(client: UserClient) -> GitHubError:
    with pytest.raises(GitHubError) as caught:
        client.user()
    return caught.value


def meaning(
    status: int, headers: dict[str, str] | None = None, message: str = "Words."
) -> GitHubError:
    body = b'{"message": "%b"}' % message.encode()
    return refusal("GET /user", status, headers or {}, body, NOW)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((401, Denied), (403, Denied), (422, Denied), (451, Denied)),
        *((404, Gone), (410, Gone), (429, RateLimited)),
        *((400, Unavailable), (409, Unavailable), (418, Unavailable)),
        *((500, Unavailable), (502, Unavailable), (503, Unavailable), (504, Unavailable)),
    ],
)
def test_a_status_becomes_an_error(
    ada: UserClient, github: GitHubEmulator, status: int, kind: type[GitHubError]
) -> None:
    github.trouble(ADDRESS, status=status, body={"message": "It's  so.\n"})
    error = failure(ada)
    assert type(error) is kind
    assert f"GitHub answered {status} to GET /api/v3/user: It's so." in str(error)


def at(moment: datetime) -> str:
    """A moment as HTTP writes it."""
    return format_datetime(moment, usegmt=True)


USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": RESET}
LEFT = {"x-ratelimit-remaining": "7", "x-ratelimit-reset": RESET}
SECONDARY = "You have exceeded a secondary rate limit."


@pytest.mark.parametrize(
    ("status", "headers", "message", "wait"),
    [
        (403, {"retry-after": "17"}, "", timedelta(seconds=17)),
        (429, {"retry-after": "17", **USED_UP}, "", timedelta(seconds=17)),
        (403, USED_UP, "", timedelta(minutes=20)),
        (429, LEFT, "", timedelta(minutes=1)),
        (403, LEFT, SECONDARY, timedelta(minutes=1)),
        (429, {}, "", timedelta(minutes=1)),
        (403, {**USED_UP, "x-ratelimit-reset": "soon"}, "", timedelta(minutes=1)),
        (403, {**USED_UP, "x-ratelimit-reset": "9" * 30}, "", timedelta(minutes=1)),
        (429, {"retry-after": "-5"}, "", timedelta(minutes=1)),
        (429, {"retry-after": "9" * 30}, "", timedelta(hours=2)),
        (429, {"retry-after": at(NOW + timedelta(seconds=90))}, "", timedelta(seconds=90)),
        (429, {"retry-after": at(NOW - timedelta(days=1))}, "", timedelta(seconds=1)),
    ],
)
def test_a_limit_says_when_to_come_back(
    status: int, headers: dict[str, str], message: str, wait: timedelta
) -> None:
    error = meaning(status, headers, message)
    assert isinstance(error, RateLimited)
    assert error.retry_at - NOW == wait
    assert str(error).startswith(f"GitHub limits our requests; they go on at {NOW + wait:%H:%M:%S}")


def test_a_refusal_with_budget_left_is_no_limit() -> None:
    error = meaning(403, LEFT)
    assert type(error) is Denied
    assert str(error) == "GitHub answered 403 to GET /user: Words."


def test_a_budget_that_is_used_up_is_a_limit(ada: UserClient, github: GitHubEmulator) -> None:
    github.budget.limit = 1
    ada.user()
    error = failure(ada)
    assert isinstance(error, RateLimited)
    assert timedelta(minutes=50) < error.retry_at - datetime.now(UTC) < timedelta(minutes=61)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"message": 5}', b"[" * 100_000, b"\xff"]
)
def test_a_refusal_without_words_has_a_sentence(body: bytes) -> None:
    assert str(refusal("GET /user", 404, {}, body, NOW)) == (
        "GitHub answered 404 to GET /user. It was deleted, or our access to it was taken away."
    )


@pytest.mark.parametrize(
    ("skew", "words"),
    [
        (timedelta(seconds=75), " This server's clock is 75 s fast: set it by NTP."),
        (timedelta(seconds=-75), " This server's clock is 75 s slow: set it by NTP."),
        (timedelta(seconds=5), ""),
    ],
)
def test_a_refused_token_names_a_wrong_clock(skew: timedelta, words: str) -> None:
    error = meaning(401, {"date": at(NOW - skew)})
    assert str(error) == (
        "GitHub answered 401 to GET /user: Words. The credentials are wrong, expired or revoked."
        + words
    )


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[]", b"null", b"{}", b'{"id": "1"}', b'{"id": true, "login": "a"}']
)
def test_an_answer_of_another_shape_is_unavailable(
    ada: UserClient, github: GitHubEmulator, body: bytes
) -> None:
    github.trouble(ADDRESS, status=200, body=body)
    assert type(failure(ada)) is Unavailable


def test_an_answer_that_breaks_off_is_unavailable(ada: UserClient, github: GitHubEmulator) -> None:
    github.trouble(ADDRESS, cut=10)
    assert type(failure(ada)) is Unavailable


def test_a_slow_answer_is_unavailable(
    ada: UserClient, github: GitHubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollouts_app.github.transport.TIMEOUT", (1, 0.2))
    github.trouble(ADDRESS, delay=3)
    error = failure(ada)
    assert type(error) is Unavailable
    assert str(error) == "GitHub did not answer GET /api/v3/user in time. Try again later."


@pytest.fixture
def dripping() -> Iterator[str]:
    """A host that sends one byte of an endless body every 50 ms."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _address = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while True:
                    time.sleep(0.05)
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        threading.Thread(target=drip, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_an_answer_that_drips_ends(dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollouts_app.github.transport.WHOLE_ANSWER_SECONDS", 0.3)
    started = time.monotonic()
    error = failure(UserClient(dripping, "token"))
    assert str(error) == "GitHub's answer to GET /user is too slow. Try again later."
    assert time.monotonic() - started < 5


def test_an_answer_that_is_too_large_is_unavailable(
    ada: UserClient, github: GitHubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollouts_app.github.transport.LARGEST_ANSWER", 1_000)
    github.trouble(ADDRESS, status=200, body=b" " * 200_000)
    assert "is too large" in str(failure(ada))


def test_a_host_that_is_not_there_is_unavailable() -> None:
    error = failure(UserClient("http://127.0.0.1:1/api/v3", "secret"))
    assert type(error) is Unavailable
    assert str(error) == (
        "The connection to GitHub failed at GET /api/v3/user (ConnectionError). Check the"
        " network and GITHUB_URL, or try again later."
    )


def test_our_token_goes_to_no_other_host(
    ada: UserClient, github: GitHubEmulator, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with GitHubEmulator(tmp_path_factory.mktemp("other")) as other:
        github.trouble(
            ADDRESS, status=301, headers={"Location": f"{other.url}/api/v3/user"}, times=1
        )
        assert "points to another host" in str(failure(ada))
        link = f'<{other.url}/api/v3/user/installations?page=2>; rel="next"'
        github.trouble(ADDRESS, status=200, headers={"Link": link}, body={"installations": []})
        with pytest.raises(Unavailable, match="points to another host"):
            list(ada.installations())
        assert other.requests == []


def test_redirects_in_circles_end(ada: UserClient, github: GitHubEmulator) -> None:
    github.trouble(ADDRESS, status=302, headers={"Location": ADDRESS})
    assert "in circles" in str(failure(ada))
    assert len(github.requests) == 4


def test_a_list_without_an_end_ends(ada: UserClient, github: GitHubEmulator) -> None:
    again = {"Link": f'<{ADDRESS}/installations>; rel="next"'}
    github.trouble(ADDRESS, status=200, headers=again, body={"installations": []})
    with pytest.raises(Unavailable, match="longer than 200 pages"):
        list(ada.installations())
    assert len(github.requests) == 200


def test_no_proxy_stands_before_this_machine(
    ada: UserClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert ada.user().login == "ada"
