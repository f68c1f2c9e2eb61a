"""The one place that speaks HTTP with GitHub's API: time, size, redirects, paging, errors.

Everything that goes wrong leaves as one of the four errors; callers never see a status code.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, ReadTimeoutError
from urllib3.util import Retry

from rollouts_app import meters
from rollouts_app.addresses import is_loopback
from rollouts_app.errors import Unavailable
from rollouts_app.github.refusals import http_date, refusal
from rollouts_app.github.shapes import Json

TIMEOUT = (5, 20)  # seconds: to connect, and between two bytes
WHOLE_ANSWER_SECONDS = 60
LARGEST_ANSWER = 20_000_000  # bytes
CHUNK = 65_536  # bytes
MOST_PAGES = 200
MOST_REDIRECTS = 3
REDIRECTS = (301, 302, 307, 308)
HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "osmosis-web",
}

CALLS = "github_calls"

Shape = TypeVar("Shape")


class Transport:
    """Requests to one API with one authorization. Not for several threads at once."""

    def __init__(self, api_url: str, token: Callable[[], str] | None, budget: str = "") -> None:
        """`token` gives the bearer token of each request, so that a short-lived one can be made;
        None asks as nobody. `budget` is what to call the budget that is watched, if it is.
        """
        self._budget = budget
        self._api_url = api_url.rstrip("/")
        # How far our clock is ahead of GitHub's, as the last answer's Date shows; None before one.
        self.ahead: timedelta | None = None
        self._session = requests.Session()
        self._session.headers.update(HEADERS)
        self._session.auth = _Bearer(token)
        # No proxy stands between two programs of one machine.
        self._session.trust_env = not is_loopback(api_url)
        # Only a connection that never came about is tried again: everything else is for the
        # queue to repeat, which does not hold up a worker.
        retry = Retry(total=2, read=False, status=0, redirect=0, other=0, backoff_factor=0.2)
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retry))

    def one(
        self,
        read: Callable[[Json], Shape],
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
    ) -> Shape:
        """The answer to one request, through `read`; `body` is sent as JSON."""
        _response, answer = self._request(method, self._api_url + path, body)
        return _shaped(read, answer, path)

    def listed(self, read: Callable[[Json], Shape], path: str, key: str) -> Iterator[Shape]:
        """Each element of a paged listing, whose next page is asked for when it is reached.

        `key` names the list inside the answer; empty when the answer itself is the list.
        https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
        """
        address = f"{self._api_url}{path}?per_page=100"
        for _page in range(MOST_PAGES):
            response, answer = self._request("GET", address)
            elements = _shaped(lambda page: page[key], answer, path) if key else answer
            if not isinstance(elements, list):
                raise Unavailable(f"GitHub's answer to {path} is no list. Try again later.")
            for element in elements:
                yield _shaped(read, element, path)
            following = response.links.get("next")
            if following is None:
                return
            address = self._same_host(address, following["url"])
        # A part of a list that looks whole would make us forget what is still there.
        raise Unavailable(f"GitHub's list {path} is longer than {MOST_PAGES} pages.")

    def _request(
        self, method: str, address: str, sent: Mapping[str, object] | None = None
    ) -> tuple[requests.Response, Any]:
        """The last response and its decoded body, redirects on the same host followed."""
        asked = f"{method} {urlsplit(address).path}"
        for _hop in range(MOST_REDIRECTS + 1):
            response, body = self._exchange(method, address, asked, sent)
            if response.status_code in REDIRECTS and "location" in response.headers:
                # A renamed repository answers with its address by id.
                address = self._same_host(address, response.headers["location"])
            elif response.ok:
                return response, _decoded(body, asked)
            else:
                now = datetime.now(UTC)
                raise refusal(asked, response.status_code, response.headers, body, now)
        raise Unavailable(f"GitHub redirects {asked} in circles. Try again later.")

    def _exchange(
        self, method: str, address: str, asked: str, sent: Mapping[str, object] | None
    ) -> tuple[requests.Response, bytes]:
        try:
            with self._session.request(
                method, address, json=sent, timeout=TIMEOUT, allow_redirects=False, stream=True
            ) as response:
                at_github = http_date(response.headers.get("date", ""))
                self.ahead = datetime.now(UTC) - at_github if at_github else None
                self._count(response)
                return response, _body(response, asked)
        except (requests.Timeout, ReadTimeoutError):
            meters.count(CALLS, answer="none")
            raise Unavailable(f"GitHub did not answer {asked} in time. Try again later.") from None
        except (requests.RequestException, HTTPError) as error:
            meters.count(CALLS, answer="none")
            # The libraries' own words carry addresses and object names: the kind is enough.
            raise Unavailable(
                f"The connection to GitHub failed at {asked} ({type(error).__name__}). Check the"
                " network and GITHUB_URL, or try again later."
            ) from None

    def _count(self, response: requests.Response) -> None:
        """https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api"""
        meters.count(CALLS, answer=str(response.status_code))
        for figure in ("Limit", "Remaining") if self._budget else ():
            told = response.headers.get(f"X-RateLimit-{figure}", "")
            if told.isdecimal():
                meters.note(f"github_budget_{figure.lower()}", int(told), of=self._budget)

    def _same_host(self, address: str, target: str) -> str:
        """`target` as seen from `address`; our token goes to no other host."""
        absolute = urljoin(address, target)
        if urlsplit(absolute)[:2] != urlsplit(self._api_url)[:2]:
            host = urlsplit(absolute).netloc
            raise Unavailable(f"GitHub's API points to another host, {host}. Check GITHUB_URL.")
        return absolute


class _Bearer(requests.auth.AuthBase):
    """Our authorization; that one is set also keeps requests from looking for a ~/.netrc."""

    def __init__(self, token: Callable[[], str] | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token()}"
        return request


def _body(response: requests.Response, asked: str) -> bytes:
    """The whole body, bounded in time and size: a time-out alone allows one byte every 20 s."""
    deadline = time.monotonic() + WHOLE_ANSWER_SECONDS
    body = bytearray()
    # What has come so far; `iter_content` would wait until a whole chunk is there.
    while chunk := response.raw.read1(CHUNK, decode_content=True):
        body += chunk
        if len(body) > LARGEST_ANSWER:
            raise Unavailable(f"GitHub's answer to {asked} is too large.")
        if time.monotonic() > deadline:
            raise Unavailable(f"GitHub's answer to {asked} is too slow. Try again later.")
    return bytes(body)


def _decoded(body: bytes, asked: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unavailable(f"GitHub's answer to {asked} is not JSON. Try again later.") from None


def _shaped(read: Callable[[Any], Shape], answer: Any, path: str) -> Shape:
    try:
        return read(answer)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Unavailable(f"GitHub's answer to {path} is not as documented: {error!r}.") from None
