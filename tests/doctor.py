"""Asking the connection doctor, on the page, and having GitHub deliver."""

import os
import time
from urllib.parse import urlsplit

from django.test import Client

from rollouts_app.models import User
from tests.conftest import receive
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of, text_of
from tests.syncing import NAME

GOOD = "Good"
DOUBTFUL = "Doubtful"
WRONG = "Wrong"


def deliver(github: GitHubEmulator, **headers: str) -> int:
    """Push, and hand the delivery over as GitHub does."""
    github.push(NAME, "main", {"a": str(time.time())})
    github.wait_for_deliveries()
    delivery = github.deliveries[-1]
    delivery.headers |= headers
    return receive(delivery)


def examined(user: User, **headers: str) -> Page:
    client = Client()
    client.force_login(user)
    host = urlsplit(os.environ["PUBLIC_URL"]).netloc
    return page_of(client.get("/doctor", headers={"Host": host, **headers}))


def findings(page: Page) -> dict[str, tuple[str, str]]:
    """What was looked at → its state, and the finding with what to do."""
    return {
        text_of(row.findall("th")[0]): (text_of(row[1]), text_of(row[2]))
        for row in page.all(".//tbody/tr")
    }


def finding(user: User, name: str, **headers: str) -> tuple[str, str]:
    return findings(examined(user, **headers))[name]
