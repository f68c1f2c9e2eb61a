"""The emulator over time: restarts, resets, and as a process of its own with the sample world."""

import json
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.github_emulator import GitHubEmulator
from tests.github_emulator.sample import AGENTS, ODD_BRANCH, STARTER, files_of, seed
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent


def start(folder: Path, port: int) -> "subprocess.Popen[str]":
    """Run it as the demo does."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.github_emulator"),
            *("--folder", str(folder), "--port", str(port)),
            *("--public-url", "http://127.0.0.1:9", "--seed", "--anonymous-git"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture
def process(tmp_path: Path, free_port: int) -> Iterator["subprocess.Popen[str]"]:
    """A running one, ready, with its folder beside."""
    process = start(tmp_path / "a folder", free_port)
    assert process.stdout is not None
    assert process.stdout.readline() == f"GitHub emulator ready at http://127.0.0.1:{free_port}\n"
    yield process
    process.kill()
    process.communicate()


def test_it_leaves_the_apps_credentials_to_their_owner_alone(
    process: "subprocess.Popen[str]", tmp_path: Path, free_port: int
) -> None:
    folder = tmp_path / "a folder"
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()
    }
    assert modes == {"app.json": 0o600, "app.private-key.pem": 0o600, "state.json": 0o600}
    app = json.loads((folder / "app.json").read_text())
    assert app["url"] == f"http://127.0.0.1:{free_port}"
    assert Path(app["private_key_file"]).read_text().startswith("-----BEGIN RSA PRIVATE KEY-----")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    process.send_signal(number)
    started = time.monotonic()
    _, complaints = process.communicate(timeout=10)
    assert (process.returncode, complaints) == (0, "")
    assert time.monotonic() - started < 2


def test_it_says_when_the_port_is_taken(
    process: "subprocess.Popen[str]", tmp_path: Path, free_port: int
) -> None:
    second = start(tmp_path / "other", free_port)
    _, complaints = second.communicate(timeout=20)
    assert (second.returncode, complaints) == (
        1,
        f"The GitHub emulator cannot listen on 127.0.0.1:{free_port} (Address already in use): end "
        "what is running there, or choose another port.\n",
    )


def test_it_goes_on_where_it_ended(tmp_path: Path) -> None:
    with GitHubEmulator(tmp_path) as github:
        github.deliver = None
        seed(github)
        app, heads, token = github.app, github.heads(AGENTS), github.user_token("ada")
        people = github.state.accounts
    with GitHubEmulator(tmp_path) as github:
        assert (github.app, github.heads(AGENTS), github.state.accounts) == (app, heads, people)
        answer = requests.get(
            f"{github.url}/api/v3/user", headers={"Authorization": f"Bearer {token}"}, timeout=5
        )
        assert answer.json()["login"] == "ada"


def test_it_knows_after_a_kill_what_it_could_not_deliver(
    process: "subprocess.Popen[str]", tmp_path: Path, free_port: int
) -> None:
    address = f"http://127.0.0.1:{free_port}/{AGENTS}.git"
    clone = tmp_path / "clone"
    for command in (
        ["git", "clone", "-q", address, str(clone)],
        ["git", "-C", str(clone), "push", "-q", "origin", "HEAD:refs/heads/new"],
    ):
        subprocess.run(command, check=True)
    log = tmp_path / "a folder" / "deliveries.jsonl"
    wait_until(lambda: log.exists() and log.read_text().count("\n") == 2)
    process.kill()
    process.wait()
    made = GitHubEmulator(tmp_path / "a folder").deliveries
    assert [(each.event, each.status) for each in made] == [("create", 502), ("push", 502)]


def test_it_stops_answering_on_open_connections(tmp_path: Path) -> None:
    github = GitHubEmulator(tmp_path)
    with requests.Session() as session:
        with github:
            assert session.get(f"{github.url}/api/v3/meta", timeout=5).status_code == 200
        with pytest.raises(requests.ConnectionError):
            session.get(f"{github.url}/api/v3/meta", timeout=5)
        port = github.port
        with github:
            assert session.get(f"{github.url}/api/v3/meta", timeout=5).status_code == 200
        assert github.port == port


def test_it_forgets_all_but_the_app(tmp_path: Path) -> None:
    with GitHubEmulator(tmp_path) as github:
        app, url = github.app.client_secret, github.url
        seed(github)
        github.app.permissions["administration"] = "write"
        github.trouble("/", status=500)
        github.reset()
        assert requests.get(f"{github.url}/api/v3/meta", timeout=5).status_code == 200
        assert (github.app.client_secret, github.url) == (app, url)
        assert github.app.permissions == {"contents": "read", "metadata": "read"}
        assert (github.state.accounts, github.state.repositories, github.deliveries) == ({}, {}, [])
        assert list((tmp_path / "repositories").iterdir()) == []
        seed(github)
        assert sorted(github.heads(AGENTS)) == sorted(
            ["main", "feature/reward", "fix/eval-config", ODD_BRANCH]
        )


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> GitHubEmulator:
    """An emulator with the sample world, not answering."""
    github = GitHubEmulator(tmp_path_factory.mktemp("sample"))
    seed(github)
    return github


def listed(github: GitHubEmulator, full_name: str, branch: str, folder: str) -> list[str]:
    """The names in a folder of a branch."""
    bare = github.bare(github.repository_named(full_name))
    command = ["git", f"--git-dir={bare.folder}", "ls-tree", "--name-only", f"{branch}:{folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_it_has_a_sample_world_to_look_at(sample: GitHubEmulator) -> None:
    three = ["multiply-harbor-strands", "multiply-local-openai", "multiply-local-strands"]
    branches = ("main", "fix/eval-config", ODD_BRANCH, "feature/reward")
    assert [listed(sample, AGENTS, branch, "rollouts") for branch in branches] == [
        three,
        three,
        three,
        [*three, "multiply-stepwise"],
    ]
    assert listed(sample, STARTER, "main", "rollouts") == ["word-count"]
    grace = sample.account_named("grace")
    assert [installation.id for installation in sample.installations_seen_by(grace)] == list(
        sample.state.installations
    )
    assert sample.deliveries == []


def test_its_sample_files_are_sound_but_for_one_line() -> None:
    broken = []
    steps = sorted(
        path.name for path in (Path(__file__).parent / "github_emulator/sample_files").iterdir()
    )
    for step in steps:
        for path, content in files_of(step).items():
            if path.endswith(".py"):
                compile(content, path, "exec")
            if path.endswith(".toml"):
                try:
                    tomllib.loads(content.decode())
                except tomllib.TOMLDecodeError as error:
                    broken.append((step, path, re.findall(r"at line (\d+)", str(error))))
    assert broken == [("fix-eval-config", "configs/eval/multiply-local-openai.toml", ["8"])]
