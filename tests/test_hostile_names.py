"""U12: names and messages of a repository that are markup stay text, wherever they are shown."""

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import Repository, SyncRun, User
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db

# None of git's rules for branch names is against it.
BRANCH = "\"><svg/onload=alert(1)>'{{7+7}}&lt;"
ROLLOUT = "\"><img src=x onerror=alert(1)>'{{7+7}}&lt;"
MESSAGE = "</title><script>alert(1)</script>{% debug %}"
CONFIG = f"""\
[experiment]
rollout = {json.dumps(ROLLOUT)}
entrypoint = "<script>alert(1)</script>"
model_path = "<b onclick=alert(1)>"
dataset = "</td><script>alert(1)</script>"
"<i>" = 1
"""
PROJECT = """\
[project]
name = "<script>alert(1)</script>"
description = "<img src=x onerror=alert(1)>"
version = "<b>1</b>"
keywords = ["<script>alert(1)</script>"]
dependencies = ["<script>alert(1)</script>"]
"""


@pytest.fixture
def hostile(synced: Repository, github: GitHubEmulator) -> Repository:
    github.account_named("ada").name = "<script>alert(1)</script>"
    files = {
        f"rollouts/{ROLLOUT}/pyproject.toml": PROJECT,
        f"rollouts/{ROLLOUT}/<script>.py": "",
        f"rollouts/{ROLLOUT}/README.md": "<script>alert(1)</script>\n\n[x](javascript:alert(1))",
        "configs/eval/<script>alert(1)<.toml": CONFIG,
        "configs/training/<b>.toml": CONFIG.replace("onerror", "onload"),
    }
    github.push(NAME, BRANCH, files, start="main", message=MESSAGE, author="ada")
    check_all(synced)
    failed = push_hint(synced, BRANCH, "1" * 40)
    SyncRun.objects.filter(pk=failed.pk).update(
        state="failed", reason=MESSAGE, subject=MESSAGE, author=MESSAGE, finished_at=now()
    )
    return synced


def addresses(hostile: Repository) -> Iterator[str]:
    query = urlencode({"branch": BRANCH})
    rollout = f"/acme/rollouts/{quote(ROLLOUT, safe='')}"
    yield f"/acme/rollouts?{query}"
    yield f"/acme/rollouts?{urlencode({'branch': BRANCH, 'q': MESSAGE})}"
    yield f"/acme/rollouts?{urlencode({'branch': BRANCH + 'x'})}"
    yield f"{rollout}?{query}"
    yield f"{rollout}"
    yield f"/acme/branches?{query}"
    yield f"/acme/branches?q={quote(MESSAGE)}"
    yield f"/acme/compare?{query}"
    yield f"/acme/compare?{urlencode({'base': BRANCH, 'branch': MESSAGE})}"
    yield f"/acme/new-rollout?{query}"
    yield f"/acme/new-rollout?{urlencode({'branch': BRANCH, 'name': ROLLOUT})}"
    yield "/acme/integrations/git"
    yield f"/acme/integrations/git/syncs?{query}"
    yield f"/acme/integrations/git/syncs?q={quote(MESSAGE)}"
    yield from (f"/acme/integrations/git/syncs/{run.pk}" for run in hostile.sync_runs.all())


def check_inert(page: Page) -> None:
    for element in page.all(".//*"):
        assert not [name for name in element.attrib if name.startswith("on")], element.attrib
        assert element.tag not in {"img", "iframe", "object", "embed", "base"}
        if element.tag == "script":
            assert (element.get("src") or "").startswith("/static/")
            assert not element.text
        link = element.get("href", "").lower()
        assert not link.startswith(("javascript:", "data:"))
    assert not [text for text in page.texts(".//title") if "14" in text]


def test_they_are_inert_in_pages_and_parts(hostile: Repository, ada: User) -> None:
    client = client_of(ada)
    for address in addresses(hostile):
        for headers in ({}, {"HX-Request": "true"}):
            answer = client.get(address, headers=headers)
            if answer.status_code in {200, 404, 422}:
                check_inert(page_of(answer, answer.status_code))
            else:
                assert (address, answer.status_code) == (address, 204)


def test_they_are_themselves_in_titles_and_json(hostile: Repository, ada: User) -> None:
    client: Client = client_of(ada)
    query = urlencode({"branch": BRANCH})
    page = page_of(client.get(f"/acme/rollouts?{query}"))
    assert page.text(".//title") == f"Rollouts on {BRANCH} · acme"
    assert ROLLOUT in [
        text.removesuffix(" on GitHub") for text in page.texts(".//a[@class='title']")
    ]
    answer = client.get(f"/acme/rollouts?{query}&format=json")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    names = [each["name"] for each in answer.json()["rollouts"]]
    assert (answer.json()["branch"]["name"], ROLLOUT in names) == (BRANCH, True)
    detail = client.get(f"/acme/rollouts/{quote(ROLLOUT, safe='')}?{query}&format=json").json()
    assert detail["project"]["name"] == "<script>alert(1)</script>"
