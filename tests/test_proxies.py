"""Behind nginx and Caddy as `deploy/` configures them: https, names, addresses, limits (U08)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from pytest_django import DjangoDbBlocker

from tests.github_emulator.webhooks import signature
from tests.proxies import Command, Proxy, caddy_command, nginx_command, standing_before
from tests.serving import Served, serving
from tests.settings import EMULATOR, free_port

pytestmark = pytest.mark.django_db(transaction=True)

LARGEST_DELIVERY = 25 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """A web server behind a proxy, as somebody elsewhere reaches it."""

    proxy: Proxy
    web: Served

    def ask(self, method: str, path: str, **options: object) -> requests.Response:
        options = {"verify": str(self.proxy.certificate), "allow_redirects": False, **options}
        return requests.request(method, f"{self.proxy.url}{path}", timeout=30, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=[nginx_command, caddy_command], ids=["nginx", "caddy"])
def site(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("site")
    command: Command = request.param
    port = free_port()
    settings = {"PUBLIC_URL": f"https://localhost:{port}", "TRUSTED_PROXY_COUNT": "1"}
    with django_db_blocker.unblock(), serving(folder, **settings) as web:
        backend = web.url.removeprefix("http://")
        with standing_before(backend, port, folder, command) as proxy:
            yield Site(proxy, web)


def test_it_shows_pages_on_https_with_all_its_guards(site: Site) -> None:
    answer = site.ask("GET", "/")
    assert answer.status_code == 200
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert {(cookie.name, cookie.secure) for cookie in answer.cookies} == {("osmosis_csrf", True)}


def test_it_takes_a_form_and_goes_on_to_an_address_of_the_public_name(site: Site) -> None:
    page = site.ask("GET", "/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token
    answer = site.ask(
        "POST",
        "/accounts/github/login/",
        data={"csrfmiddlewaretoken": token[1]},
        headers={"Origin": site.proxy.url},
        cookies=page.cookies,
    )
    back = f"{site.proxy.url}/accounts/github/login/callback/"
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["redirect_uri"] == [back]


@pytest.mark.parametrize(
    "claimed",
    [
        {"X-Forwarded-Proto": "http"},
        {"X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "host=evil.example;proto=http"},
    ],
)
def test_it_believes_no_visitor_s_claims(site: Site, claimed: dict[str, str]) -> None:
    answer = site.ask("GET", "/account", headers=claimed)
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        "/accounts/login/?next=/account",
    )


def test_it_answers_to_no_other_name(site: Site) -> None:
    answer = site.ask("GET", "/", headers={"Host": "evil.example"})
    assert "<title>Osmosis Web" not in answer.text


def test_it_takes_the_largest_delivery_and_no_larger_one(site: Site) -> None:
    body = b'{"a": "' + b"a" * (LARGEST_DELIVERY - 9) + b'"}'
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "ping",
        "X-GitHub-Delivery": "large",
        "X-Hub-Signature-256": signature(EMULATOR.app.webhook_secret, body),
    }
    answer = site.ask("POST", "/webhooks/github", data=body, headers=headers)
    assert answer.status_code in {200, 202}
    # It answers, and hangs up while the rest is still being sent.
    with suppress(requests.ConnectionError):
        too_large = site.ask(
            "POST", "/webhooks/github", data=body + b" " * 3_000_000, headers=headers
        )
        assert too_large.status_code == 413
    assert site.web.text().count("POST github-webhook: 20") == 1


def test_it_keeps_the_doors_of_machines_shut(site: Site) -> None:
    paths = ("/metrics", "/readyz", "/healthz")
    assert [site.ask("GET", path).status_code for path in paths] == [404, 404, 200]
    inside = requests.get(f"{site.web.url}/readyz?without=worker", timeout=30)
    assert inside.status_code == 200


def test_nginx_leads_from_http_to_https(site: Site) -> None:
    if not (site.proxy.folder / "nginx.conf").exists():
        pytest.skip("Caddy does so by itself, on port 80 only.")
    plain = f"http://localhost:{site.proxy.plain_port}/x?y=1"
    answer = requests.get(plain, allow_redirects=False, timeout=30)
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{site.proxy.url}/x?y=1")
