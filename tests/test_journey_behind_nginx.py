"""The first journey once more, as people make it: in a browser, on https, behind nginx."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.github_emulator import GitHubEmulator
from tests.proxies import nginx_command, standing_before
from tests.serving import serving, working
from tests.settings import EMULATOR, free_port
from tests.test_journey import test_from_the_landing_page_to_a_pushed_rollout

__all__ = ["test_from_the_landing_page_to_a_pushed_rollout"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A browser whose owner has accepted our certificate."""
    return {**browser_context_args, "ignore_https_errors": True}


@pytest.fixture
def live(
    github: GitHubEmulator, empty_queue: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The whole product behind nginx, with its App at the emulator: its address."""
    port = free_port()
    settings = {"PUBLIC_URL": f"https://localhost:{port}", "TRUSTED_PROXY_COUNT": "1"}
    with serving(tmp_path, **settings) as web, working(tmp_path, **settings):
        backend = web.url.removeprefix("http://")
        with standing_before(backend, port, tmp_path, nginx_command) as proxy:
            for name, value in (
                ("callback_urls", [f"{proxy.url}/accounts/github/login/callback/"]),
                ("setup_url", f"{proxy.url}/onboarding/installed"),
                ("webhook_url", f"{proxy.url}/webhooks/github"),
            ):
                monkeypatch.setattr(EMULATOR.app, name, value)
            monkeypatch.setattr(github.outbox, "trusted", proxy.certificate)
            github.deliver = github.outbox.post
            yield proxy.url
