"""The connection doctor where the App was made at /setup, without a webhook, or not at all yet."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.core.management import call_command
from pytest_django import Settings

from rollouts_app import vault
from rollouts_app.models import GitHubApp, User
from tests.doctor import GOOD, WRONG, deliver, examined, finding, findings
from tests.first_run import store_app, without_app
from tests.github_emulator import GitHubEmulator

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(agents: object, github: GitHubEmulator, ada: User, settings: Settings) -> Iterator[None]:
    """A server whose App was made by the first run, and its administrator."""
    cache.clear()
    User.objects.filter(pk=ada.pk).update(is_administrator=True)
    ada.refresh_from_db()
    with without_app(github, settings):
        store_app(github)
        yield


@pytest.mark.usefixtures("stored")
def test_it_names_the_page_where_the_secrets_are_set(ada: User, github: GitHubEmulator) -> None:
    assert finding(ada, "Private key")[0] == GOOD
    assert deliver(github, **{"X-Hub-Signature-256": "sha256=" + "0" * 64}) == 401
    state, text = finding(ada, "Webhook secret")
    assert (state, text.split(" To do: ")[1]) == (
        WRONG,
        "Set the same secret on the App's page and on the Server page.",
    )
    GitHubApp.objects.update(private_key=vault.encrypt("no key"))
    state, text = finding(ada, "Private key")
    assert (state, text.endswith(", and set it on the Server page.")) == (WRONG, True)


@pytest.mark.usefixtures("stored")
def test_its_report_holds_no_stored_secret(ada: User, github: GitHubEmulator) -> None:
    words = f"{github.app.webhook_secret} {github.app.client_secret}"
    github.trouble("/api/v3/app", status=403, body={"message": words})
    report = examined(ada).text(".//*[@id='report']")
    assert [secret for secret in words.split() if secret in report] == []
    assert "<removed> <removed>" in report


@pytest.mark.usefixtures("stored")
def test_an_app_without_a_webhook_lacks_nothing(ada: User, github: GitHubEmulator) -> None:
    GitHubApp.objects.update(webhook_secret="")
    github.app.events = []
    found = findings(examined(ada))
    assert {name for name in found if "ebhook" in name or name == "Deliveries"} == {"Webhook"}
    assert found["Webhook"] == (GOOD, "The App does without one: pushes are found by the timer.")
    assert found["Permissions and events"][0] == GOOD
    github.deliver = lambda _delivery: 401
    deliver(github)
    assert finding(ada, "Webhook")[0] == WRONG


def test_the_command_says_that_there_is_no_app_yet(
    db: None, github: GitHubEmulator, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with without_app(github, settings), pytest.raises(SystemExit) as end:
        call_command("doctor")
    assert (end.value.code, capsys.readouterr().out) == (
        1,
        "[bad] GitHub App: This server has no GitHub App yet. Whoever runs it creates one at "
        "/setup.\n",
    )
