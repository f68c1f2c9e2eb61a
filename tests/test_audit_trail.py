"""What is written to the audit log, once: not even SQL changes it by accident."""

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction
from django.test import Client

from rollouts_app import audit
from rollouts_app.audit import Deed
from rollouts_app.connection import delete_kept, disconnect, disconnect_and_delete
from rollouts_app.models import AuditEvent, Repository, User, Workspace
from tests.audit import LOG, deeds, opened, written
from tests.conftest import Browser
from tests.github_emulator import GitHubEmulator
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db

TRUNCATES_NOT = "audit_events_are_not_truncated"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rollouts_app_auditevent SET subject = 'nothing'",
        "UPDATE rollouts_app_auditevent SET subject = 'nothing' WHERE id = 0",
        "DELETE FROM rollouts_app_auditevent",
        "TRUNCATE rollouts_app_auditevent",
        "TRUNCATE rollouts_app_workspace CASCADE",
    ],
)
def test_it_cannot_be_changed(ada: User, acme: Workspace, change: str) -> None:
    audit.record(ada, Deed.INVITED, "grace", workspace=acme)
    audit.record(ada, Deed.CHANGED_SERVER, "SIGN_IN")
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE rollouts_app_auditevent ENABLE TRIGGER {TRUNCATES_NOT}")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute(change)
    assert len(written()) == 2


def test_the_application_cannot_change_it_either(ada: User, acme: Workspace) -> None:
    event = audit.record(ada, Deed.INVITED, "grace", workspace=acme)
    event.subject = "nobody"
    for change in (event.save, event.delete, acme.audit_events.all().delete):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()
    assert written() == [("acme", "Ada Lovelace", "invited", "grace")]


def test_only_a_workspace_takes_its_events_with_it(
    ada: User, acme: Workspace, synced: Repository
) -> None:
    other = Workspace.objects.create(slug="other")
    audit.record(ada, Deed.INVITED, "grace", workspace=acme)
    audit.record(ada, Deed.INVITED, "linus", workspace=other)
    disconnect_and_delete(ada, synced)
    with transaction.atomic():
        audit.record(ada, Deed.DELETED_WORKSPACE, "acme", members=2)
        acme.delete()
    assert written() == [
        ("other", "Ada Lovelace", "invited", "linus"),
        ("", "Ada Lovelace", "deleted the workspace", "acme"),
    ]


def test_a_deletion_that_is_taken_back_leaves_its_events(ada: User, acme: Workspace) -> None:
    audit.record(ada, Deed.INVITED, "grace", workspace=acme)
    with transaction.atomic():
        Workspace.objects.filter(pk=acme.pk).delete()
        transaction.set_rollback(True)
    assert written() == [("acme", "Ada Lovelace", "invited", "grace")]


def test_each_time_somebody_signs_in_is_written_down(db: None, github: GitHubEmulator) -> None:
    for _ in range(2):
        sign_in(Client(), github, "ada")
    assert written() == 2 * [("", "Ada Lovelace", "signed in", "")]


def test_a_new_workspace_is_written_down(ada: User, browser_of: Browser) -> None:
    browser_of(ada).post("/onboarding/workspace", {"slug": "fresh"})
    browser_of(ada).post("/onboarding/workspace", {"slug": "fresh"})
    assert written() == [("fresh", "Ada Lovelace", "created the workspace", "fresh")]


def test_connecting_is_written_down_once(
    ada: User, acme: Workspace, github: GitHubEmulator, browser_of: Browser
) -> None:
    github.create_repository("acme/agents", files={"a": "a"})
    number = github.install("acme", repositories=["acme/agents"], by="ada")
    repository = github.repository_named("acme/agents").id
    client = browser_of(ada)
    for _ in range(2):
        client.post("/acme/integrations/git/repository", {"choice": f"{number}:{repository}"})
    kept = acme.repositories.get()
    disconnect(ada, kept)
    client.post(f"/acme/integrations/git/repositories/{kept.pk}/reconnect")
    told = f"installation: acme ({number})"
    assert deeds(opened(ada, LOG)) == [
        ["Ada Lovelace ada", "connected acme/agents", f"{told} returned: yes"],
        ["Ada Lovelace ada", "disconnected acme/agents", "kept: yes"],
        ["Ada Lovelace ada", "connected acme/agents", f"{told} returned: no"],
    ]


def test_somebody_elses_installation_is_refused_and_written_down(
    mallory: User, ada: User, github: GitHubEmulator, browser_of: Browser
) -> None:
    """I06"""
    github.create_repository("acme/agents", files={"a": "a"})
    number = github.install("acme", by="ada")
    repository = github.repository_named("acme/agents").id
    client = browser_of(mallory)
    client.post("/onboarding/workspace", {"slug": "evil"})
    client.post("/evil/integrations/git/repository", {"choice": f"{number}:{repository}"})
    assert Repository.objects.count() == 0
    asked = f"repository {repository} of installation {number}"
    assert written()[1:] == [("evil", "Mallory", "was refused", asked)]


def test_what_a_role_does_not_allow_is_written_down_once_an_hour(
    linus: User, synced: Repository, browser_of: Browser
) -> None:
    cache.clear()
    client, before = browser_of(linus), len(written())
    assert client.get("/acme/delete").status_code == 403
    assert len(written()) == before
    for address in ("/acme/delete", "/acme/delete", "/acme/settings"):
        assert client.post(address, {"name": "acme"}).status_code == 403
    assert written()[before:] == [
        ("acme", "Linus T", "was refused", "workspace delete"),
        ("acme", "Linus T", "was refused", "workspace settings"),
    ]
    assert AuditEvent.objects.order_by("-id")[1].details == {
        "why": "Only owners delete a workspace."
    }


def test_the_end_of_a_connection_is_written_down_once(ada: User, synced: Repository) -> None:
    for _ in range(2):
        disconnect(ada, synced)
    for _ in range(2):
        delete_kept(ada, synced)
    assert deeds(opened(ada, LOG)) == [
        [
            "Ada Lovelace ada",
            "deleted what was kept of acme/agents",
            "branches: 1 deliveries: 0 rollouts: 2 syncs: 1",
        ],
        ["Ada Lovelace ada", "disconnected acme/agents", "kept: yes"],
    ]


def test_a_disconnection_that_deletes_says_what_went(ada: User, synced: Repository) -> None:
    for _ in range(2):
        disconnect_and_delete(ada, synced)
    [event] = AuditEvent.objects.all()
    assert (event.deed, event.lines) == (
        "disconnected",
        ["branches: 1", "deliveries: 0", "kept: no", "rollouts: 2", "syncs: 1"],
    )
