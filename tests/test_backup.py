"""`manage.py backup`, `restore` and `rotate_keys`: tried before they are needed."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psycopg
import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from psycopg import sql
from pytest_django.fixtures import Settings

from rollouts_app import vault
from rollouts_app.backup.tables import columns_of, tables_to_keep
from rollouts_app.backup.writing import back_up
from rollouts_app.models import GitHubApp, Repository, Workspace, WorkspaceSlug
from tests.databases import empty_database, manage, rows_of
from tests.github_emulator import GitHubEmulator
from tests.serving import working
from tests.waiting import wait_until
from tests.workers import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]


def run(command: str, *arguments: Any) -> str:
    output = StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()


def refusal(*arguments: Any) -> str:
    with pytest.raises(CommandError) as refused:
        call_command(*arguments)
    return str(refused.value)


@pytest.fixture
def backup(synced: Repository, tmp_path: Path) -> Path:
    path = tmp_path / "osmosis.backup"
    run("backup", path)
    return path


def test_it_restores_all_of_it_into_an_empty_server(
    synced: Repository, github: GitHubEmulator, tmp_path: Path
) -> None:
    with psycopg.connect(database_url()) as connection:
        tables = {name: columns_of(connection, name) for name in tables_to_keep(connection)}
    before = rows_of(database_url(), tables)
    rows = sum(map(len, before.values()))
    path = tmp_path / "osmosis.backup"
    assert run("backup", path).startswith(f"{rows} rows are in {path}, ")
    assert path.stat().st_mode & 0o777 == 0o600
    with empty_database() as url:
        answer = manage(url, "restore", str(path))
        assert (answer.stderr, answer.stdout.partition(".")[0]) == ("", f"{rows} rows are back")
        assert rows_of(url, tables) == before
        # And it lives: what was pushed meanwhile is found, though its job and webhook are not.
        commit = github.push("acme/agents", "main", {"rollouts/new/main.py": "…"})
        with (
            working(tmp_path, DATABASE_URL=url, SYNC_INTERVAL_SECONDS="1") as worker,
            psycopg.connect(url, autocommit=True) as restored,
        ):
            forced = "UPDATE rollouts_app_repository SET full_check_requested_at = now()"
            restored.execute(forced)
            ask = "SELECT commit FROM rollouts_app_branch"
            wait_until(lambda: restored.execute(ask).fetchall() == [(commit,)], seconds=70)
            assert worker.process.poll() is None


def test_it_is_of_one_moment_though_the_server_goes_on(acme: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "osmosis.backup"
    with ThreadPoolExecutor(1) as thread, psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE rollouts_app_workspaceslug IN ACCESS EXCLUSIVE MODE")
        done = thread.submit(back_up, path)
        wait_until(lambda: other.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())
        late = "INSERT INTO rollouts_app_workspaceslug (slug, workspace_id) VALUES ('late', %s)"
        other.execute(late, [acme.pk])
        other.commit()
        assert done.result() > 0
    with ZipFile(path) as archive:
        kept = archive.read("tables/rollouts_app_workspaceslug.txt").decode()
    assert kept == f"acme\t{acme.pk}\n"
    assert WorkspaceSlug.objects.filter(slug="late").exists()


def test_it_overwrites_no_backup(backup: Path) -> None:
    said = refusal("backup", backup)
    assert said == f"No backup was made. {backup} exists. Name a new file: a backup replaces none."


def test_it_leaves_nothing_of_a_backup_that_fails(synced: Repository, tmp_path: Path) -> None:
    with psycopg.connect(database_url()) as connection:
        connection.execute("LOCK TABLE rollouts_app_workspace IN ACCESS EXCLUSIVE MODE")
        ours = sql.Identifier(connection.info.dbname)
        impatient = sql.SQL("ALTER DATABASE {} SET lock_timeout = '100ms'").format(ours)
        patient = sql.SQL("ALTER DATABASE {} RESET lock_timeout").format(ours)
        with psycopg.connect(database_url(), autocommit=True) as other:
            other.execute(impatient)
            try:
                said = refusal("backup", tmp_path / "osmosis.backup")
            finally:
                other.execute(patient)
    assert said.startswith("No backup was made. canceling statement due to lock timeout")
    assert list(tmp_path.iterdir()) == []


def test_it_restores_into_no_database_that_holds_anything(backup: Path) -> None:
    said = refusal("restore", backup)
    assert said.startswith(
        "Nothing was restored. The database that DATABASE_URL names is not empty: it has "
    )


def test_it_wants_the_keys_of_then(backup: Path, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert refusal("restore", backup).startswith(
        "Nothing was restored. None of ENCRYPTION_KEYS is that of this backup"
    )
    assert "is not empty" in refusal("restore", backup, "--without-keys")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def rewritten(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def rewrite(path: Path) -> None:
        with ZipFile(path) as old:
            members = {name: old.read(name) for name in old.namelist()}
        contents = json.loads(members["contents.json"])
        change(contents)
        members["contents.json"] = json.dumps(contents).encode()
        with ZipFile(path, "w") as new:
            for name, data in members.items():
                new.writestr(name, data)

    return rewrite


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (cut, "is no whole backup: File is not a zip file"),
        (rewritten(lambda all: all.update(format=2)), "A newer Osmosis Web made this backup"),
        (
            rewritten(lambda all: all["migrations"].append(["rollouts_app", "9999_next"])),
            "does not know rollouts_app.9999_next, a migration of the backup",
        ),
    ],
)
def test_it_says_what_is_wrong_with_a_file(
    backup: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(backup)
    assert said in refusal("restore", backup)


@pytest.fixture
def app(db: None) -> GitHubApp:
    """The App that the first run made, its secrets encrypted."""
    return GitHubApp.objects.create(
        app_id=1,
        is_of_organization=False,
        client_secret=vault.encrypt("a secret"),
        private_key=vault.encrypt("a key"),
        webhook_secret="",
    )


def test_it_encrypts_all_anew_with_the_newest_key(app: GitHubApp, settings: Settings) -> None:
    old, new = settings.ENCRYPTION_KEYS[0], Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, old]
    assert run("rotate_keys").startswith("2 secrets are encrypted with the newest")
    settings.ENCRYPTION_KEYS = [new]
    app.refresh_from_db()
    assert vault.decrypt(app.client_secret) == "a secret"
    assert (vault.decrypt(app.private_key), app.webhook_secret) == ("a key", "")


def test_it_names_the_secret_that_no_key_fits(app: GitHubApp, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert (
        "0 secrets are encrypted with the newest key, and 2 cannot be read with any of"
        " ENCRYPTION_KEYS: rollouts_app_githubapp.client_secret of row 1,"
        " rollouts_app_githubapp.private_key of row 1."
    ) in refusal("rotate_keys")
