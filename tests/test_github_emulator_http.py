"""The emulator as an HTTP server: connections, and trouble on them."""

import http.client
import re
import time

import pytest
import requests

from tests.github_emulator import GitHubEmulator


def meta(github: GitHubEmulator) -> requests.Response:
    """Ask for something cheap."""
    return requests.get(f"{github.url}/api/v3/meta", timeout=5)


def test_it_gets_into_trouble_as_often_as_told(github: GitHubEmulator) -> None:
    github.trouble("/api/v3/meta", status=503, headers={"Retry-After": "7"}, times=2)
    answers = [meta(github) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert answers[0].headers["Retry-After"] == "7"


def test_it_cuts_and_delays_answers(github: GitHubEmulator) -> None:
    github.trouble("/api/v3/meta", cut=10, times=1)
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        meta(github)
    github.trouble("/api/v3/meta", delay=0.3, times=1)
    started = time.monotonic()
    assert meta(github).status_code == 200
    assert time.monotonic() - started > 0.3


def test_it_speaks_githubs_words_in_trouble(github: GitHubEmulator) -> None:
    pattern = github.trouble(re.compile(r"/met[a-z]$"), status=401)
    assert meta(github).json() == {
        "message": "Bad credentials",
        "status": "401",
        "documentation_url": "https://docs.github.com/rest",
    }
    pattern.end()
    assert meta(github).status_code == 200


def test_it_reads_a_body_in_chunks(github: GitHubEmulator) -> None:
    answer = requests.post(
        f"{github.url}/login/oauth/access_token",
        data=iter([b"client_id=", b"x"]),
        headers={"Accept": "application/json"},
        timeout=5,
    )
    assert answer.json()["error"] == "incorrect_client_credentials"


@pytest.mark.parametrize("framing", ["Content-Length: -1", "Transfer-Encoding: chunked"])
def test_it_hangs_up_on_a_broken_body(github: GitHubEmulator, framing: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", github.port, timeout=5)
    name, _, value = framing.partition(": ")
    connection.putrequest("POST", "/login")
    connection.putheader(name, value)
    connection.endheaders(b"nonsense\r\n")
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    assert meta(github).status_code == 200


def test_it_answers_many_requests_on_one_connection(github: GitHubEmulator) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", github.port, timeout=5)
    statuses = []
    for method, path, body in (
        ("GET", "/api/v3/meta", None),
        ("HEAD", "/api/v3/meta", None),
        ("POST", "/login/oauth/access_token", b"client_id=x"),
        ("GET", "/no/such/page/at/all", None),
        ("GET", "/api/v3/meta", None),
    ):
        connection.request(method, path, body)
        answer = connection.getresponse()
        answer.read()
        statuses.append((answer.status, answer.will_close))
    assert statuses == [(200, False), (200, False), (200, False), (404, False), (200, False)]
    assert [seen.method for seen in github.requests] == ["GET", "HEAD", "POST", "GET", "GET"]
