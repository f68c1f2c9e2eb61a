"""Signing in as a person would: our form, GitHub's page, and back."""

from urllib.parse import parse_qsl, urlsplit

import requests
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page

from rollouts_app.models import User
from tests.github_emulator import GitHubEmulator


def enter(page: Page, live: str, user: User) -> None:
    """Give a browser the session of somebody who has signed in."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live}])


def address_at_github(client: Client, path: str = "") -> str:
    """Where our sign-in button leads."""
    answer = client.post(f"/accounts/github/login/{path}")
    assert answer.status_code == 302
    return str(answer.headers["Location"])


def sign_in(client: Client, github: GitHubEmulator, login: str, path: str = "") -> str:
    """Sign in and return the path that one lands on."""
    asked = dict(parse_qsl(urlsplit(address_at_github(client, path)).query))
    back = requests.post(
        f"{github.url}/login/oauth/authorize",
        data={**asked, "user": login},
        allow_redirects=False,
        timeout=10,
    )
    landed = client.get(back.headers["Location"])
    return str(landed.headers.get("Location", landed.status_code))
