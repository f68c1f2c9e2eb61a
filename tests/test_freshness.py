"""The freshness line: how true a page is, and when it asks again."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils.timezone import now

from rollouts_app.gitstore import Unreadable
from rollouts_app.models import Repository, SyncRun, User
from rollouts_app.sync import engine
from rollouts_app.sync.manual import check_now
from rollouts_app.templatetags.rollouts import clock
from tests.github_emulator import GitHubEmulator
from tests.pages import page_of
from tests.rollouts_page import reason, seen_by
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db

ADDRESS = "/acme/sync-status"
LINE = {"HX-Request": "true", "HX-Target": "freshness"}
NEWS = '{"catalog-synced": {}}'


def ask(user: User, query: str = "?branch=main") -> HttpResponse:
    client = Client()
    client.force_login(user)
    response: HttpResponse = client.get(f"{ADDRESS}{query}", headers=LINE)  # type: ignore[assignment]
    return response


def line(user: User, query: str = "?branch=main") -> str:
    return page_of(ask(user, query)).text()


def pause(user: User, query: str = "?branch=main") -> str:
    """What makes the line ask again."""
    trigger = page_of(ask(user, query)).one(".//*[@id='freshness']").get("hx-trigger") or ""
    always = "sync-asked from:body, tab-shown from:body"
    assert trigger.endswith(always)
    return trigger.removesuffix(always).rstrip(", ")


def short(github: GitHubEmulator, branch: str = "main") -> str:
    return github.heads(NAME)[branch][:7]


def test_it_says_that_it_matches(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    past = now() - timedelta(seconds=40)
    Repository.objects.update(heads_checked_at=past)
    synced.branches.update(changed_at=past)
    assert line(ada) == f"Matches GitHub at {short(github)} · checked 40 s ago"
    assert pause(ada) == ""


def test_a_sync_of_the_branch_counts_as_a_look(synced: Repository, ada: User) -> None:
    Repository.objects.update(heads_checked_at=now() - timedelta(seconds=200))
    assert line(ada).endswith("checked just now")


def test_a_branch_that_was_gone_before_it_was_read_was_never_there(
    synced: Repository, ada: User
) -> None:
    push_hint(synced, "brief", "1" * 40)
    check_all(synced)
    assert line(ada, "?branch=brief") == "Not on GitHub · checked just now"


def test_it_names_the_commit_that_is_coming(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    push_hint(synced, "main", "b7c8d9e" + "0" * 33)
    assert line(ada) == f"Syncing b7c8d9e… Showing {short(github)}."
    assert pause(ada) == "every 2s"


def test_another_branchs_sync_is_not_its_own(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    push_hint(synced, "other", "b7c8d9e" + "0" * 33)
    assert line(ada).startswith(f"Matches GitHub at {short(github)}")


def test_it_says_that_it_checks_after_sync_now(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    client = Client()
    client.force_login(ada)
    answer = client.post("/acme/integrations/git/sync-now", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Trigger"]) == (204, '{"sync-asked": {}}')
    assert line(ada) == f"Checking GitHub… Showing {short(github)}."
    assert pause(ada) == "every 2s"
    engine.sync(synced.pk)
    assert line(ada).startswith("Matches GitHub at")


def test_it_says_what_keeps_it_from_github(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.suspend(synced.installation.github_id)
    check_all(synced)
    shown = clock(synced.branches.get(name="main").changed_at or now())
    assert line(ada) == (
        f"Not checked since {shown}: the GitHub App is suspended. "
        f"Showing {short(github)}. Open Git Integration"
    )
    assert pause(ada) == ""


def test_it_tells_a_suspension_it_was_told_of(synced: Repository, ada: User) -> None:
    synced.installation.suspended_at = now()
    synced.installation.save()
    assert "the GitHub App is suspended." in line(ada)
    synced.installation.removed_at = now()
    synced.installation.save()
    assert "the GitHub App is not installed any more." in line(ada)


def test_it_waits_out_an_outage_by_itself(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.trouble("/acme/agents.git", status=503, times=20)
    check_all(synced)
    Repository.objects.update(retry_at=now() + timedelta(seconds=40, milliseconds=500))
    assert "GitHub gives no usable answer." in line(ada)
    assert line(ada).endswith("Next try in 40 s.")
    assert pause(ada) == "every 15s"


def test_it_says_when_nobody_looks(synced: Repository, ada: User) -> None:
    past = now() - timedelta(days=1)
    Repository.objects.update(heads_checked_at=past)
    synced.branches.update(changed_at=past)
    assert line(ada).startswith(
        f"Not checked since {clock(past)}: the worker of this server does not look."
    )


def test_a_look_that_was_just_asked_for_is_believed_in(synced: Repository, ada: User) -> None:
    past = now() - timedelta(days=1)
    Repository.objects.update(heads_checked_at=past, full_check_requested_at=now())
    assert line(ada).startswith("Checking GitHub…")
    Repository.objects.update(full_check_requested_at=past)
    synced.branches.update(changed_at=past)
    assert line(ada).startswith("Not checked since")


def test_it_says_nothing_again_while_nothing_is_new(synced: Repository, ada: User) -> None:
    push_hint(synced, "main", "b" * 40)
    commit = synced.branches.get(name="main").commit
    seen = quote(f"syncing {commit} {'b' * 40}")
    assert ask(ada, f"?branch=main&shown={commit}&seen={seen}").status_code == 204
    assert ask(ada, f"?branch=main&shown={commit}&seen=x").status_code == 200


def test_it_tells_the_page_when_something_new_is_there(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    old = github.heads(NAME)["main"]
    assert ask(ada, f"?branch=main&shown={old}").get("HX-Trigger") is None
    github.push(NAME, "main", {"rollouts/new/main.py": "x"})
    check_all(synced)
    assert ask(ada, f"?branch=main&shown={old}")["HX-Trigger"] == NEWS


def test_it_tells_of_a_deletion_once(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    commit = github.create_branch(NAME, "old", "main")
    check_all(synced)
    github.delete_branch(NAME, "old")
    check_all(synced)
    before = f"?branch=old&shown={commit}&seen={quote(f'fresh {commit} ')}"
    assert ask(ada, before)["HX-Trigger"] == NEWS
    after = f"?branch=old&shown={commit}&seen={quote(f'deleted {commit} ')}"
    assert ask(ada, after).get("HX-Trigger") is None
    assert pause(ada, after) == ""


def test_it_says_when_github_no_longer_limits_us(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """W22: what waited for it on the page can be used again."""
    seen = f"?branch=main&shown={github.heads(NAME)['main']}&seen="
    Repository.objects.update(trouble="rate limited", retry_at=now() + timedelta(minutes=5))
    assert ask(ada, f"{seen}{quote('fresh')}")["HX-Trigger"] == NEWS
    assert ask(ada, f"{seen}{quote('waiting')}").get("HX-Trigger") is None
    Repository.objects.update(trouble="", retry_at=None)
    assert ask(ada, f"{seen}{quote('waiting')}")["HX-Trigger"] == NEWS
    assert ask(ada, f"{seen}{quote('fresh')}").get("HX-Trigger") is None


def test_a_branch_that_is_pushed_again_is_no_tombstone(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.create_branch(NAME, "old", "main")
    check_all(synced)
    github.delete_branch(NAME, "old")
    check_all(synced)
    push_hint(synced, "old", "b" * 40)
    assert line(ada, "?branch=old") == f"Syncing bbbbbbb… Showing {commit[:7]}."


def test_an_absent_branch_is_asked_for_until_it_comes(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    assert line(ada, "?branch=new") == "Not on GitHub · checked just now"
    assert pause(ada, "?branch=new") == "every 5s"
    github.create_branch(NAME, "new", "main")
    check_all(synced)
    assert ask(ada, "?branch=new&shown=")["HX-Trigger"] == NEWS


def test_a_failed_run_does_not_hold_it(synced: Repository, ada: User) -> None:
    push_hint(synced, "main", "b" * 40).close(SyncRun.State.FAILED, "It could not be read.")
    assert line(ada).startswith("Matches GitHub at")


def test_it_leads_a_person_who_opens_it_to_the_page(synced: Repository, ada: User) -> None:
    client = Client()
    client.force_login(ada)
    answer = client.get(f"{ADDRESS}?branch=a%2Fb")
    assert answer.headers["Location"] == "/acme/rollouts?branch=a%2Fb"


def test_a_stranger_finds_nothing(synced: Repository, mallory: User) -> None:
    assert ask(mallory).status_code == 404


def test_it_names_the_commit_that_somebody_cancelled(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """No green line for what GitHub has no more, also once the timer has looked."""
    shown = short(github)
    commit = github.push(NAME, "main", {"a": "1"})
    push_hint(synced, "main", commit).cancel("Ada")
    check_all(synced)
    assert line(ada) == (
        f"GitHub has {commit[:7]}, whose sync failed or was cancelled. Showing {shown}. "
        "Open its syncs"
    )
    assert synced.sync_runs.latest("pk").state == "cancelled"
    github.move_branch(NAME, "main", f"{commit}^")
    check_all(synced)
    assert line(ada).startswith(f"Matches GitHub at {shown}")


def test_it_names_the_commit_whose_sync_failed(
    synced: Repository, github: GitHubEmulator, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Unreadable("It is no commit.")

    github.create_branch(NAME, "new", github.push(NAME, "main", {"a": "1"}))
    monkeypatch.setattr(engine, "read_catalogs", refuse)
    for _ in range(3):
        check_all(synced)
    failed = f"GitHub has {short(github)}, whose sync failed or was cancelled."
    assert line(ada).startswith(failed)
    assert line(ada, "?branch=new") == f"{failed} Open its syncs"
    assert reason(seen_by(ada, "?branch=new")) == "new has not been read."
    assert synced.sync_runs.filter(state="failed").count() == 2
    monkeypatch.undo()
    check_now(synced)
    engine.sync(synced.pk)
    assert line(ada, "?branch=new").startswith(f"Matches GitHub at {short(github)}")


def test_a_first_sync_that_no_worker_begins_is_no_endless_wait(
    agents: Repository, ada: User
) -> None:
    past = now() - timedelta(hours=1)
    Repository.objects.update(connected_at=past, full_check_requested_at=past)
    assert line(ada) == (
        "Not checked yet: the worker of this server does not look. Its administrator can start it "
        "again. Open Git Integration"
    )
    run = push_hint(agents, "main")
    times = {"requested_at": past, "started_at": now() - timedelta(minutes=15)}
    SyncRun.objects.filter(pk=run.pk).update(state="syncing", **times)
    assert reason(seen_by(ada)) == "Reading branches…"
