"""What tests of the first run do: a server without an App, and GitHub's page that makes one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from urllib.parse import urlsplit

import pytest
import requests
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from rollouts_app import vault
from rollouts_app.models import GitHubApp
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of

LINK = re.compile(r"http://\S+/setup\?token=(\S+)")


@contextmanager
def without_app(github: GitHubEmulator, settings: Settings) -> Iterator[None]:
    """No App is known here; whichever the emulator gets is the one it had before, afterwards."""
    settings.GITHUB_APP_ID = ""
    before = deepcopy(github.app)
    try:
        yield
    finally:
        with github.changing() as state:
            state.app = before


def store_app(github: GitHubEmulator) -> GitHubApp:
    """The emulator's App as the first run would have stored it."""
    app = github.app
    return GitHubApp.objects.create(
        app_id=app.id,
        slug=app.slug,
        name=app.name,
        owner="acme",
        is_of_organization=True,
        client_id=app.client_id,
        client_secret=vault.encrypt(app.client_secret),
        private_key=vault.encrypt(app.private_key),
        webhook_secret=vault.encrypt(app.webhook_secret) if app.webhook_secret else "",
    )


def printed_token(capsys: pytest.CaptureFixture[str]) -> str:
    """The token of the link that the server prints when it starts."""
    capsys.readouterr()
    call_command("setup_link")
    found = LINK.search(capsys.readouterr().err)
    assert found
    return found[1]


def manifest_form(client: Client, **values: str) -> dict[str, str]:
    """Where the form for GitHub leads, as `action`, and its manifest."""
    page = page_of(client.post("/setup/app", {"name": "Osmosis", "owner": "person", **values}))
    [form] = [each for each in page.all(".//form") if "settings/apps/new" in each.get("action", "")]
    [field] = form.findall("input")
    return {"action": form.get("action", ""), "manifest": field.get("value", "")}


def create_at_github(github: GitHubEmulator, login: str, form: dict[str, str]) -> str:
    """Create the App on GitHub's pages as somebody would; where that leads."""
    with requests.Session() as session:
        session.post(f"{github.url}/login", {"user": login}, timeout=10)
        page = Page(session.post(form["action"], {"manifest": form["manifest"]}, timeout=10).text)
        [ask] = [
            each for each in page.all(".//form") if each.get("action", "").endswith("manifest")
        ]
        fields = {each.get("name"): each.get("value") for each in ask.iter("input")}
        back = session.post(
            github.url + ask.get("action", ""), fields, allow_redirects=False, timeout=10
        )
    address = urlsplit(back.headers["Location"])
    return f"{address.path}?{address.query}"
