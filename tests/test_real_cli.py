"""The pinned `osmosis` of PyPI, unchanged, against the whole product."""

import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from allauth.socialaccount.models import SocialAccount
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from rollouts_app.models import (
    AuditEvent,
    CliToken,
    DeviceGrant,
    Membership,
    Repository,
    User,
    Workspace,
)
from tests.barriers import has_no_barriers
from tests.cli_api import key_behind, make_token
from tests.github_emulator import GitHubEmulator
from tests.real_cli.clone import Answer, Machine
from tests.real_cli.installing import NotInstallable, command_line
from tests.syncing import check_all, told_of
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="session")
def osmosis() -> Path:
    """The command line. Without a Python for it, tests are skipped, or fail where CI=true."""
    try:
        return command_line()
    except NotInstallable as reason:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(str(reason))


@pytest.fixture
def machine(osmosis: Path, tmp_path: Path) -> Callable[[str, str], Machine]:
    """A machine of somebody's, by name, pointed at a server."""

    def of(name: str, server: str) -> Machine:
        home = tmp_path / name
        home.mkdir()
        return Machine(osmosis, home, server)

    return of


def test_a_person_signs_in_works_and_signs_out(
    page: Page,
    live: str,
    synced: Repository,
    ada: User,
    github: GitHubEmulator,
    machine: Callable[[str, str], Machine],
    tmp_path: Path,
) -> None:
    SocialAccount.objects.create(user=ada, provider="github", uid=ada.github_id)
    laptop = machine("ada", live)
    clone = laptop.clone(push_to=push_address(github))
    sign_in(page, laptop, tmp_path / "login.txt")
    key = CliToken.objects.get()
    assert (key.user, key.workspace, key.device) == (
        *(ada, None, DeviceGrant.objects.get().device_name),
    )
    inside, outside, doctor = at_once(
        lambda: laptop.run("auth", "whoami", "--plain", folder=clone),
        lambda: laptop.run("auth", "whoami", "--plain"),
        lambda: laptop.run("doctor", folder=clone),
    )
    facts = dict(line.split(": ", 1) for line in inside.lines)
    assert facts == {
        "Email": f"{ada.github_id}+ada@users.noreply.github.com",
        "Name": "Ada Lovelace",
        "Workspace": "acme",
        "Role": "owner",
        "Platform": live,
        "Auth Source": "file",
        "Saved Login": "yes (file)",
        "Expires": f"{key.expires_at:%Y-%m-%d}",
    }
    known = dict(line.split(": ", 1) for line in outside.lines)
    assert known == {name: facts[name] for name in facts if name not in {"Workspace", "Role"}}
    assert (doctor.code, doctor.lines[0]) == (0, "Workspace doctor completed.")
    assert "Linked workspace: acme" in doctor.lines

    go_through_quickstart(laptop, clone, synced.workspace)
    push_what_rollout_init_writes(laptop, clone)
    follow_a_rename(laptop, clone, github)
    out = laptop.run("auth", "logout", "--yes", "--json")
    assert (out.code, out.json["resource"]["revoked"]) == (0, True)
    key.refresh_from_db()
    assert key.revoked_at is not None
    deeds = AuditEvent.objects.filter(actor=ada).values_list("deed", flat=True)
    assert [*deeds.filter(deed__endswith="API key").order_by("id")] == [
        *("created the API key", "revoked the API key"),
    ]


def sign_in(page: Page, laptop: Machine, output: Path) -> None:
    """`auth login`, approved by somebody who has to sign in to the website first."""
    login = laptop.start("auth", "login", output=output)
    link = re.compile(r"http\S+/device\?code=(\S{9})")
    wait_until(lambda: link.search(output.read_text()))
    found = link.findall(output.read_text())
    page.set_default_timeout(15_000)
    page.goto(f"{laptop.server}/device?code={found[0]}")
    page.get_by_role("button", name="Continue with GitHub").first.click()
    page.get_by_role("button", name="Continue as Ada Lovelace").click()
    expect(page.get_by_text(found[0])).to_be_visible()
    has_no_barriers(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approved")).to_be_visible()
    assert login.wait(timeout=20) == 0
    page.get_by_role("link", name="Devices and API keys").click()
    has_no_barriers(page)
    page.goto(f"{laptop.server}/acme/api-keys")
    page.get_by_role("link", name="New key").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    has_no_barriers(page)
    assert "Login Successful" in output.read_text()


def go_through_quickstart(laptop: Machine, clone: Path, workspace: Workspace) -> None:
    answers = {"What do you want to do?": b"\r", "Describe your task:": b"Sums of numbers\r"}
    done = laptop.talk("quickstart", folder=clone, answers=answers)
    assert done.code == 0, done.out
    assert "plan-training" in done.out
    own = workspace.memberships.get(role="owner")
    assert (own.quickstart_intent, own.quickstart_completed_at is not None) == ("train", True)


def push_what_rollout_init_writes(laptop: Machine, clone: Path) -> None:
    assert laptop.run("rollout", "init", "hello", folder=clone).code == 0
    laptop.git("add", "rollouts", "configs", folder=clone)
    laptop.git("commit", "-qm", "Add rollout hello", folder=clone)
    laptop.git("push", "-q", "origin", "HEAD", folder=clone)
    branch = Repository.objects.get().branches
    wait_until(lambda: branch.filter(name="main", catalog__versions__len=3).exists())
    listed = laptop.run("rollout", "list", "--plain", folder=clone)
    assert told_of("hello", branch.get(name="main")) == []
    commit = branch.get(name="main").commit[:8]
    assert listed.lines == [f"{name}\t{commit}\t{now():%Y-%m-%d}" for name in ROLLOUTS_THEN]


ROLLOUTS_THEN = ["hello", "maths", "search"]


def follow_a_rename(laptop: Machine, clone: Path, github: GitHubEmulator) -> None:
    github.rename_repository("acme/agents", "rollouts")
    wait_until(lambda: Repository.objects.filter(full_name="acme/rollouts").exists())
    listed = laptop.run("rollout", "list", "--json", folder=clone)
    assert [item["repo_full_name"] for item in listed.json["items"]] == ["acme/rollouts"] * 3
    hint = "git remote set-url origin https://github.com/acme/rollouts.git"
    assert hint in " ".join(listed.err.split())


def test_it_lists_and_is_refused(
    live_server: LiveServer,
    synced: Repository,
    ada: User,
    mallory: User,
    github: GitHubEmulator,
    machine: Callable[[str, str], Machine],
) -> None:
    many = {f"rollouts/r{number:03}/main.py": f"{number}\n" for number in range(120)}
    github.push("acme/agents", "many", many)
    github.push("acme/agents", "feature/x", {"rollouts/extra/main.py": "1\n"})
    check_all(synced)
    ci = machine("ci", live_server.url)
    clone = ci.clone()
    good = make_token(ada, synced.workspace)
    calls = {name: (arguments, good) for name, arguments in CALLS.items()} | {
        name: (("rollout", "list"), token)
        for name, token in bad_tokens(ada, mallory, synced.workspace).items()
    }
    answers = dict(
        zip(
            calls,
            at_once(
                *[
                    partial(ci.run, *arguments, folder=clone, token=token)
                    for arguments, token in calls.values()
                ]
            ),
            strict=True,
        )
    )
    see_the_lists(answers, synced)
    see_the_refusals(answers)


CALLS = {
    "rich": ("rollout", "list"),
    "json": ("rollout", "list", "--json"),
    "plain": ("rollout", "list", "--plain"),
    "branch": ("rollout", "list", "--branch", "feature/x", "--plain"),
    "all": ("rollout", "list", "--branch", "many", "--all", "--json"),
    "limit": ("rollout", "list", "--branch", "many", "--limit", "2", "--json"),
    "typo": ("rollout", "list", "--branch", "feature/y", "--json"),
    "not built": ("dataset", "list", "--json"),
}
ITEM = {
    *("id", "name", "description", "repo_full_name", "last_synced_commit_sha"),
    *("last_synced_at", "created_at"),
}


def bad_tokens(ada: User, mallory: User, acme: Workspace) -> dict[str, str]:
    """Tokens by which nothing of Acme is to be seen."""
    other = Workspace.objects.create(slug="other")
    Membership.objects.create(workspace=other, user=ada, role="owner")
    revoked = make_token(ada, acme)
    key_behind(revoked).revoke()
    return {
        "stranger": make_token(mallory),
        "revoked": revoked,
        "expired": make_token(ada, acme, days=-1),
        "foreign": make_token(ada, other),
        "malformed": "not a token",
    }


def see_the_lists(answers: dict[str, Answer], synced: Repository) -> None:
    commit = synced.branches.get(name="main").commit
    day = f"{now():%Y-%m-%d}"
    for name in ("rich", "json", "plain", "branch", "all", "limit"):
        assert (answers[name].code, name) == (0, name), answers[name].err
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in answers["rich"].lines]
    assert [row for row in rows if row] == [
        *(["maths", commit[:8], day], ["search", commit[:8], day]),
    ]
    assert answers["plain"].lines == [
        f"{name}\t{commit[:8]}\t{day}" for name in ("maths", "search")
    ]
    assert [line.split("\t")[0] for line in answers["branch"].lines] == ["extra"]
    listed = answers["json"].json
    assert [item["name"] for item in listed["items"]] == ["maths", "search"]
    assert [item.keys() for item in listed["items"]] == [ITEM, ITEM]
    assert listed["git"] == {
        "identity": "acme/agents",
        "remote_url": "ssh://git@github.com/acme/agents.git",
    }
    everything, few = answers["all"].json, answers["limit"].json
    names = [item["name"] for item in everything["items"]]
    assert names == [f"r{number:03}" for number in range(120)]
    assert paging(everything) == (120, False, None)
    assert (len(few["items"]), paging(few)) == (2, (120, True, 2))


def paging(listed: dict[str, object]) -> tuple[object, ...]:
    return listed["total_count"], listed["has_more"], listed["next_offset"]


def see_the_refusals(answers: dict[str, Answer]) -> None:
    typo, not_built = json.loads(answers["typo"].err), json.loads(answers["not built"].err)
    assert (answers["typo"].code, typo["error"]["code"]) == (1, "NOT_FOUND")
    assert "Did you mean “feature/x”?" in typo["error"]["message"]
    assert (answers["not built"].code, not_built["error"]["code"]) == (1, "NOT_FOUND")
    assert not_built["error"]["message"] == (
        "Datasets are not part of this server: it syncs rollouts from Git and lists them."
    )
    words = {
        "stranger": "",
        "revoked": "revoked",
        "expired": "expired",
        "foreign": "",
        "malformed": "",
    }
    for name, word in words.items():
        said = answers[name].out + answers[name].err
        assert (answers[name].code, name) == (1, name)
        assert word in said
        assert "maths" not in said


def at_once(*calls: Callable[[], Answer]) -> list[Answer]:
    """Several calls, a few at a time; their answers in order."""
    with ThreadPoolExecutor(3) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]


def push_address(github: GitHubEmulator) -> str:
    """Where Ada's pushes go: the emulator, which is called github.com in her clone."""
    token = github.user_token("ada")
    return f"{github.url}/acme/agents.git".replace("://", f"://x-access-token:{token}@")
