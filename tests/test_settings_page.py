"""Settings: name with its old addresses, time zone; the workspace's end."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from rollouts_app import workspaces
from rollouts_app.models import (
    AuditEvent,
    Catalog,
    Membership,
    Repository,
    SyncRun,
    User,
    Workspace,
    WorkspaceSlug,
)
from rollouts_app.refusals import NotAllowed
from rollouts_app.sync.locks import repository_lock
from rollouts_app.sync.upkeep import finish_disconnections
from tests.connection import in_another_thread, press, rows
from tests.github_emulator import GitHubEmulator
from tests.members import Role, join, opened, signed_in
from tests.onboarding import HTMX
from tests.pages import page_of

pytestmark = pytest.mark.django_db

SETTINGS, DELETE = "/acme/settings", "/acme/delete"
SAVED = ["The settings were saved."]


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


def problem(client: Client, **values: str) -> list[str]:
    answer = client.post(SETTINGS, {"slug": "acme", "timezone": "UTC", **values})
    page = page_of(answer, 422)
    return page.texts(".//ul[@class='errorlist']/li") + page.texts(".//form//*[@role='alert']")


def test_a_new_name_keeps_the_old_addresses(
    client: Client, linus: User, mallory: User, synced: Repository
) -> None:
    client.get("/acme/rollouts")
    answer = client.post(SETTINGS, {"slug": "apex", "timezone": "UTC"})
    assert answer.headers["Location"] == "/apex/settings"
    member = signed_in(linus)
    for old, new in (
        ("/acme", "/apex"),
        ("/acme/rollouts?branch=a%2Fb&q=x", "/apex/rollouts?branch=a%2Fb&q=x"),
        ("/acme/rollouts/maths", "/apex/rollouts/maths"),
    ):
        answer = member.get(old)
        assert (answer.status_code, answer.headers["Location"]) == (302, new)
    part = member.get("/acme/rollouts", headers=HTMX)
    assert (part.status_code, part.headers["Location"]) == (302, "/apex/rollouts")
    sent = member.post("/acme/integrations/git/sync-now")
    assert (sent.status_code, sent.headers["Location"]) == (307, "/apex/integrations/git/sync-now")
    assert signed_in(mallory).get("/acme/rollouts").status_code == 404
    # The one who renamed it comes back to it.
    assert client.get("/", follow=True).redirect_chain[-1][0] == "/apex/rollouts"
    event = AuditEvent.objects.get(deed="changed settings")
    assert event.details == {"slug": "acme → apex"}


def test_an_old_name_is_free_for_nobody_else_and_comes_back(
    client: Client, acme: Workspace, mallory: User
) -> None:
    assert press(client, SETTINGS, slug="apex", timezone="UTC") == SAVED
    answer = signed_in(mallory).post("/onboarding/workspace", {"slug": "acme"})
    assert "The name acme is taken. Choose another one." in page_of(answer, 422).text(".//main")
    with pytest.raises(IntegrityError), transaction.atomic():
        Workspace.objects.create(slug="acme")
    other = Workspace.objects.create(slug="other")
    with pytest.raises(IntegrityError), transaction.atomic():
        Workspace.objects.filter(pk=other.pk).update(slug="acme")
    assert press(client, "/apex/settings", slug="acme", timezone="UTC") == SAVED
    assert client.get("/apex/members").headers["Location"] == "/acme/members"
    assert sorted(WorkspaceSlug.objects.values_list("slug", "workspace__slug")) == [
        ("acme", "acme"),
        ("apex", "acme"),
        ("other", "other"),
    ]


def test_a_name_of_another_is_refused(client: Client, acme: Workspace) -> None:
    Workspace.objects.create(slug="apex")
    assert problem(client, slug="apex") == [
        "The name apex is, or was, another workspace's. Choose another one."
    ]
    assert problem(client, slug="settings") == [
        "“settings” is an address of this server. Choose another name."
    ]
    assert problem(client, slug="A b") == [
        "Use lower-case letters, digits and dashes, with a letter or digit at both ends."
    ]
    acme.refresh_from_db()
    assert acme.slug == "acme"


def test_a_time_zone_is_that_of_all_dates(
    client: Client, ada: User, linus: User, acme: Workspace
) -> None:
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    acme.memberships.update(joined_at=moment)
    assert press(client, SETTINGS, slug="acme", timezone="Asia/Kolkata") == SAVED
    [first, _] = opened(linus, "/acme/members").all(".//td[@class='joined']/time")
    assert first.get("title") == "2026-03-02 05:00:00 UTC+05:30"
    assert first.get("datetime") == "2026-03-02T05:00:00+05:30"
    assert first.text == "2 Mar 2026"
    assert opened(linus, SETTINGS).facts() == {"Name": "acme", "Time zone": "Asia/Kolkata"}
    # It ends with the page.
    assert page_of(client.get("/account")).text(".//dd/time").endswith(" UTC")
    assert problem(client, timezone="Mars/Olympus") == ["Choose one of the time zones listed."]


def test_a_zone_this_machine_does_not_know_reads_as_utc(client: Client, acme: Workspace) -> None:
    Workspace.objects.update(timezone="Mars/Olympus")
    assert client.get("/acme/members").status_code == 200
    assert press(client, SETTINGS, slug="acme", timezone="Mars/Olympus") == SAVED


def test_the_same_settings_twice_are_no_change(client: Client, acme: Workspace) -> None:
    for _ in range(2):
        assert press(client, SETTINGS, slug="acme", timezone="Europe/Berlin") == SAVED
    assert AuditEvent.objects.filter(deed="changed settings").count() == 1


def test_a_deletion_asks_for_the_name(client: Client, synced: Repository) -> None:
    page = page_of(client.get(DELETE))
    assert page.text(".//main//form/p") == (
        "Deleted for good: all rollouts and history of acme/agents, the access of 2 people, "
        "invitations, settings and the audit log. On GitHub nothing changes: repositories stay, "
        "and the App stays installed."
    )
    for typed in ("", "acm"):
        answer = page_of(client.post(DELETE, {"typed": typed}), 422)
        assert answer.text(".//*[@id='typed-error']") == "That is not acme. Nothing was changed."
    assert Workspace.objects.count() == 1


def test_nothing_is_left_but_one_record(
    client: Client, ada: User, linus: User, synced: Repository
) -> None:
    client.post("/acme/members/invite", {"how": "link", "role": "member"})
    member = signed_in(linus)
    member.get("/acme/rollouts")
    answer = client.post(DELETE, {"typed": "acme"})
    assert answer.headers["Location"] == "/"
    assert rows() == {"User": 2, "Installation": 1, "AuditEvent": 1}
    event = AuditEvent.objects.get()
    assert (event.workspace, event.actor_name, event.deed, event.subject, event.details) == (
        None,
        "Ada Lovelace",
        "deleted the workspace",
        "acme",
        {"repositories": ["acme/agents"]},
    )
    for browser in (client, member):
        assert browser.get("/acme/rollouts").status_code == 404
        assert browser.get("/").headers["Location"] == "/onboarding"
    assert client.post(DELETE, {"typed": "acme"}).status_code == 404
    assert Workspace.objects.create(slug="acme").pk


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_a_sync_that_is_running_out_of_sight(
    client: Client, synced: Repository
) -> None:
    def delete() -> None:
        client.post(DELETE, {"typed": "acme"})

    with repository_lock(synced.pk):
        in_another_thread(delete).join()
        assert (Workspace.objects.count(), Membership.objects.count()) == (1, 0)
        assert client.get("/acme/rollouts").status_code == 404
        assert SyncRun.objects.count() == 1
    finish_disconnections(0)
    assert (Workspace.objects.count(), Repository.objects.count()) == (0, 0)
    assert (Catalog.objects.count(), WorkspaceSlug.objects.count()) == (0, 0)


def test_an_admin_does_not_delete(acme: Workspace, github: GitHubEmulator) -> None:
    admin = join(acme, github, "grace", Role.ADMIN)
    with pytest.raises(NotAllowed):
        workspaces.delete_workspace(admin.user, acme)
    assert opened(admin.user, SETTINGS).all(".//*[@id='delete']") == []
    assert acme.memberships.count() == 3
