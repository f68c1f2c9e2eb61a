"""The audit log's pages: a workspace's for owners, the server's for administrators; CSV."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app import audit
from rollouts_app.audit import Deed
from rollouts_app.models import AuditEvent, Membership, User, Workspace
from rollouts_app.templatetags.rollouts import exact
from tests.audit import LOG, deeds, opened
from tests.conftest import counted_queries
from tests.history import cells
from tests.pages import page_of

pytestmark = pytest.mark.django_db

SERVER_LOG = "/server/audit"


def csv_rows(client: Client, address: str) -> list[list[str]]:
    response = client.get(address)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    content = b"".join(response)
    return list(csv.reader(io.StringIO(content.decode())))


@pytest.fixture
def administrator(ada: User) -> User:
    ada.is_administrator = True
    ada.save(update_fields=["is_administrator"])
    return ada


def test_people_who_are_gone_keep_their_names(ada: User, linus: User, acme: Workspace) -> None:
    audit.record(linus, Deed.LEFT, "acme", workspace=acme)
    linus.delete()
    assert deeds(opened(ada, LOG)) == [["Linus T", "left acme", "–"]]


def test_owners_see_when_members_signed_in_and_nobody_else(
    ada: User, linus: User, mallory: User, acme: Workspace
) -> None:
    for user in (ada, linus, mallory):
        audit.record(user, Deed.SIGNED_IN, by="GitHub")
    audit.record(ada, Deed.CHANGED_SERVER, "SIGN_IN")
    before = now() - timedelta(days=1)
    AuditEvent.objects.create(actor=linus, actor_name="Linus T", deed=Deed.SIGNED_IN, at=before)
    assert deeds(opened(ada, LOG)) == [
        ["Linus T linus", "signed in", "by: GitHub"],
        ["Ada Lovelace ada", "signed in", "by: GitHub"],
    ]


def test_it_tells_when_and_who_and_what(ada: User, acme: Workspace) -> None:
    event = audit.record(
        ada,
        Deed.CHANGED_ROLE,
        "linus",
        workspace=acme,
        **{"from": "member", "to": "admin", "was_told": True, "places": ["a", "b"], "why": ""},
    )
    page = opened(ada, LOG)
    assert cells(page) == [
        [
            f"{exact(event.at)} · just now",
            "Ada Lovelace ada",
            "changed the role of linus",
            "from: member places: a, b to: admin was told: yes why: none",
        ]
    ]


def test_what_others_wrote_is_shown_and_not_run(ada: User, acme: Workspace) -> None:
    audit.record(ada, Deed.INVITED, "<b>\u202eevil", workspace=acme, note="<script>")
    assert deeds(opened(ada, LOG)) == [
        ["Ada Lovelace ada", "invited <b>\\u202eevil", "note: <script>"]
    ]


def test_the_server_has_a_log_of_its_own(administrator: User, acme: Workspace) -> None:
    audit.record(None, Deed.ROTATED, "the webhook secret")
    audit.record(administrator, Deed.INVITED, "grace", workspace=acme)
    audit.record(administrator, Deed.DELETED_WORKSPACE, "gone")
    assert deeds(opened(administrator, SERVER_LOG)) == [
        ["Ada Lovelace ada", "deleted the workspace gone", "–"],
        ["The server", "rotated the webhook secret", "–"],
    ]
    server_alone = opened(administrator, f"{SERVER_LOG}?person=server")
    assert deeds(server_alone) == [["The server", "rotated the webhook secret", "–"]]


def test_the_servers_log_is_for_administrators(linus: User, acme: Workspace) -> None:
    client = Client()
    client.force_login(linus)
    assert client.get(SERVER_LOG).status_code == 404
    assert client.get(f"{SERVER_LOG}?format=csv").status_code == 404
    assert client.get(f"{LOG}?format=csv").status_code == 403


def test_it_is_filtered_by_deed_and_person(ada: User, linus: User, acme: Workspace) -> None:
    for user in (ada, linus):
        audit.record(user, Deed.INVITED, "grace", workspace=acme)
        audit.record(user, Deed.LEFT, "acme", workspace=acme)

    def shown(query: str) -> list[list[str]]:
        return [row[:2] for row in deeds(opened(ada, f"{LOG}?{query}"))]

    assert shown("deed=left") == [["Linus T linus", "left acme"], ["Ada Lovelace ada", "left acme"]]
    assert shown(f"person={linus.pk}&deed=invited") == [["Linus T linus", "invited grace"]]
    assert shown(f"person={linus.pk}&deed=connected") == []
    for nonsense in ("deed=x", "person=x", "person=%00", "person=" + "9" * 40, "page=x"):
        assert len(shown(nonsense)) == 4
    page = opened(ada, f"{LOG}?deed=left")
    people = page.texts(".//select[@id='person']/option")
    assert people == ["Everybody", "Ada Lovelace (ada)", "Linus T (linus)"]
    assert page.texts(".//select[@id='deed']/option[@selected]") == ["Left"]
    assert page.links()["Download CSV"] == "?deed=left&person=&format=csv"


def test_the_file_has_what_the_filters_left_on_the_page(ada: User, acme: Workspace) -> None:
    client = Client()
    client.force_login(ada)
    headers = {"HX-Request": "true", "HX-Target": "log", "HX-Trigger": "filters"}
    part = client.get(LOG, {"deed": "left", "person": ""}, headers=headers)
    assert page_of(part).links()["Download CSV"] == "?deed=left&person=&format=csv"
    assert part.headers["HX-Replace-Url"] == f"{LOG}?deed=left"


def test_it_says_when_there_is_nothing(ada: User, acme: Workspace) -> None:
    assert opened(ada, LOG).text(".//main//h2") == "Nothing is written down yet."
    filtered = opened(ada, f"{LOG}?deed=left")
    assert filtered.text(".//main//h2") == "Nothing of this kind is written down."
    assert filtered.links()["Show everything"] == LOG


def test_it_comes_in_pages_of_fifty_by_as_many_queries(ada: User, acme: Workspace) -> None:
    def queries() -> int:
        client = Client()
        client.force_login(ada)
        with counted_queries() as counted:
            client.get(LOG)
        return len(counted)

    audit.record(ada, Deed.INVITED, "number 0", workspace=acme)
    few = queries()
    for number in range(1, 51):
        audit.record(ada, Deed.INVITED, f"number {number}", workspace=acme)
    assert queries() == few
    first, second = deeds(opened(ada, LOG)), deeds(opened(ada, f"{LOG}?page=2"))
    assert (len(first), first[0][1], first[-1][1]) == (50, "invited number 50", "invited number 1")
    assert [row[1] for row in second] == ["invited number 0"]


def test_it_can_be_taken_away_as_a_file(ada: User, acme: Workspace) -> None:
    event = audit.record(ada, Deed.CHANGED_ROLE, "linus", workspace=acme, **{"from": "member"})
    audit.record(ada, Deed.LEFT, "acme", workspace=acme)
    client = Client()
    client.force_login(ada)
    rows = csv_rows(client, f"{LOG}?format=csv&deed=changed+the+role+of")
    assert rows == [
        ["Time", "Person", "GitHub login", "Deed", "Subject", "Details", "Workspace"],
        [
            event.at.isoformat(timespec="seconds"),
            "Ada Lovelace",
            "ada",
            "changed the role of",
            "linus",
            "from: member",
            "acme",
        ],
    ]
    assert len(csv_rows(client, f"{LOG}?format=csv")) == 3


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", " ="])
def test_no_cell_of_the_file_is_a_formula(ada: User, acme: Workspace, start: str) -> None:
    evil = f'{start}HYPERLINK("http://evil.example","x")'
    ada.name = evil
    audit.record(ada, Deed.INVITED, evil, workspace=acme)
    client = Client()
    client.force_login(ada)
    [_head, row] = csv_rows(client, f"{LOG}?format=csv")
    starts = {cell.lstrip()[:1] for cell in row}
    assert starts & set("=+-@\t\r") == set()
    assert {row[1], row[4]} <= {f"'{evil}", evil.replace("\t", "\\t").replace("\r", "\\r")}


def test_roles_are_asked_for_anew_each_time(linus: User, acme: Workspace) -> None:
    client = Client()
    client.force_login(linus)
    memberships = acme.memberships.filter(user=linus)
    answers = []
    for role in (Membership.Role.OWNER, Membership.Role.ADMIN):
        memberships.update(role=role)
        answers.append(client.get(LOG).status_code)
    memberships.delete()
    answers.append(client.get(LOG).status_code)
    assert answers == [200, 403, 404]
