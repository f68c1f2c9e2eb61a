"""Signing in as a person would: our form, GitHub's page, and back."""

from urllib.parse import parse_qsl, urlsplit

import requests
from django.test import Client

from tests.github_emulator import GitHubEmulator


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
