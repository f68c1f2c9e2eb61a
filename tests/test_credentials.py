"""The installation's token: where Git Sync must leave no trace of it."""

import base64
import logging
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.db import connection, connections
from psycopg import sql
from pytest_django import Settings

from rollouts_app.errors import GitHubError
from rollouts_app.gitstore.command import Call, Failed, run
from rollouts_app.models import Repository, User
from rollouts_app.sync import engine
from rollouts_app.sync.clients import store_for, token_for
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.syncing import NAME, check_all
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

GIT = f"/{NAME}.git"


@pytest.fixture
def secrets(agents: Repository) -> list[str]:
    """The token, and the form in which git sends it."""
    token = token_for(agents.installation)
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return [token, basic]


def holds(text: str, secrets: list[str]) -> bool:
    return any(secret in text for secret in secrets)


def command_lines() -> Iterator[str]:
    """Those of all processes of this machine."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield (process / "cmdline").read_bytes().decode(errors="replace")


def rows() -> Iterator[str]:
    """Every row of every table, the queue's among them, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            query = sql.SQL("SELECT row_to_json(t)::text FROM {} AS t")
            cursor.execute(query.format(sql.Identifier(table)))
            yield from (row for [row] in cursor.fetchall())


def test_no_process_list_shows_it(
    agents: Repository, github: GitHubEmulator, secrets: list[str]
) -> None:
    slow = github.trouble(f"{GIT}/git-upload-pack", delay=1, times=1)
    syncing = threading.Thread(target=sync_and_disconnect, args=[agents.pk])
    syncing.start()
    wait_until(lambda: slow.met)
    lines = list(command_lines())
    syncing.join(20)
    assert [line for line in lines if "git-remote-http" in line or "remote-http" in line] != []
    assert [line for line in lines if holds(line, secrets)] == []


def sync_and_disconnect(repository_id: int) -> None:
    engine.sync(repository_id)
    connections.close_all()


@pytest.mark.parametrize("status", [200, 401, 403, 404, 429, 500, 502])
def test_nothing_that_is_kept_holds_it(
    agents: Repository,
    github: GitHubEmulator,
    secrets: list[str],
    ada: User,
    caplog: pytest.LogCaptureFixture,
    settings: Settings,
    tmp_path: Path,
    status: int,
) -> None:
    """Also where a host, or a proxy, repeats in its answer what we sent."""
    settings.DATA_DIR = tmp_path
    caplog.set_level(logging.DEBUG)
    said = " ".join(secrets).encode()
    if status != 200:
        headers = {"Content-Type": "text/plain", "X-Echo": said.decode()}
        github.trouble(GIT, status=status, body=said, headers=headers)
    check_all(agents)
    assert bool(agents.trouble) == (status != 200)
    assert agents.sync_runs.count() == (1 if status == 200 else 0)
    assert [
        path
        for path in files_in(tmp_path)
        if holds(path.read_bytes().decode(errors="replace"), secrets)
    ] == []
    assert [row for row in rows() if holds(row, secrets)] == []
    assert not holds(caplog.text, secrets)
    assert not holds(seen_by(ada).text(), secrets)


def files_in(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found != []
    return found


def test_no_traceback_holds_it(
    agents: Repository, github: GitHubEmulator, secrets: list[str]
) -> None:
    github.trouble(GIT, status=500, body=" ".join(secrets).encode())
    with pytest.raises(GitHubError, match="<redacted>") as caught:
        store_for(agents).heads()
    assert not holds("".join(traceback.format_exception(caught.value)), secrets)
    assert not holds(repr(caught.value.__context__), secrets)


def test_what_git_says_is_rid_of_it(tmp_path: Path) -> None:
    """No version of git hides all of it: HTTP/2 headers were shown by some."""
    call = Call(
        arguments=["hush-hush"],
        repository=tmp_path,
        home=tmp_path,
        seconds=10,
        most_bytes=1_000,
        settings={"alias.hush-hush": "!echo 'authorization: Basic s3cret' >&2; exit 3"},
        secrets=["s3cret"],
    )
    with pytest.raises(Failed) as caught:
        run(call)
    assert caught.value.stderr == "authorization: Basic <redacted>\n"
    assert "s3cret" not in repr(call)
