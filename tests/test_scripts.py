"""The shell scripts, on machines that lack something, and the environment they make."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
SCRIPTS = [
    script
    for script in sorted((PROJECT / "script").iterdir())
    if "python" not in script.read_text().splitlines()[0]
]

# What the bootstrap itself asks a shell for.
BASIC_COMMANDS = ("sh", "env", "dirname")

METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
RECORD = "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\n"


def shell(
    script: Path, path: Path | str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shutil.which("sh") or "sh", str(script), *arguments],
        env={"PATH": str(path), **environment},
        capture_output=True,
        text=True,
    )


def executable(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def bare_machine(tmp_path: Path) -> Path:
    """A folder for the PATH, with hardly anything in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in BASIC_COMMANDS:
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what makes environments, with one small package, in a path with a space."""
    folder = tmp_path / "a project"
    for name in ("script/bootstrap", "osmosis_web/installation.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(PROJECT / name, folder / name)
    wheel = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "SIZE = 'tiny'\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", METADATA)
        archive.writestr("tiny-1.0.dist-info/WHEEL", WHEEL)
        archive.writestr("tiny-1.0.dist-info/RECORD", RECORD)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n")
    (folder / "script" / "size").write_text(
        'set -eu\nroot=$(cd "$(dirname "$0")/.." && pwd -P)\n. "$root/script/bootstrap"\n'
        'install .venv requirements.txt\n"$python" -c "import tiny; print(tiny.SIZE)"\n'
    )
    return folder


def offline(project: Path, **environment: str) -> dict[str, str]:
    """Settings for pip that know no index but the project's folder."""
    return {
        "PYTHON": sys.executable,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": f"file://{project}".replace(" ", "%20"),
        "HOME": str(project),
        **environment,
    }


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_is_shell_that_any_sh_understands(script: Path) -> None:
    check = subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True)
    assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bench", "demo", "server", "worker", "test"])
def test_it_names_the_python_that_is_too_old(name: str, bare_machine: Path) -> None:
    executable(bare_machine / "python3", "echo 3.9")
    executable(bare_machine / "python3.11", "exit 1")
    script = PROJECT / "script" / name
    answer = shell(script, bare_machine)

    assert (answer.returncode, answer.stdout, answer.stderr) == (
        1,
        "",
        "Python 3.11 or newer is needed, python3 is 3.9. "
        f"Install it, or name it: PYTHON=/path/to/python3 {script}\n",
    )


def test_it_says_that_there_is_no_python(bare_machine: Path) -> None:
    script = PROJECT / "script" / "demo"
    answer = shell(script, bare_machine)

    assert (answer.returncode, answer.stderr) == (
        1,
        "Python 3.11 or newer is needed, and there is no python3 here. "
        f"Install it, or name it: PYTHON=/path/to/python3 {script}\n",
    )


def test_it_says_that_git_is_missing(bare_machine: Path) -> None:
    answer = shell(PROJECT / "script" / "demo", bare_machine, PYTHON=sys.executable)

    assert (answer.returncode, answer.stderr) == (
        1,
        "git is missing. Install git (on Debian and Ubuntu: apt install git) and start again.\n",
    )


def test_it_says_that_git_is_too_old(bare_machine: Path) -> None:
    executable(bare_machine / "git", "echo git version 2.25.1")
    answer = shell(PROJECT / "script" / "demo", bare_machine, PYTHON=sys.executable)

    assert (answer.returncode, answer.stderr) == (
        1,
        "git 2.31 or newer is needed, and this is git version 2.25.1. "
        "Install git (on Debian and Ubuntu: apt install git) and start again.\n",
    )


def test_it_says_that_python_lacks_its_venv_module(project: Path, tmp_path: Path) -> None:
    # As on Debian without python3-venv.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ensurepip'] = None\n")
    environment = offline(project, PYTHONPATH=str(tmp_path))
    answer = shell(project / "script" / "size", os.environ["PATH"], **environment)

    version = "{}.{}".format(*sys.version_info)
    assert (answer.returncode, answer.stderr.splitlines()[1:]) == (
        1,
        [
            f"Python {version} at {sys.executable} lacks its venv module. Install it (on Debian "
            "and Ubuntu: apt install python3-venv) and start again."
        ],
    )


def test_it_makes_the_environment_once_for_two_that_start_together(project: Path) -> None:
    script = project / "script" / "size"
    half_made = project / ".venv" / "bin"
    half_made.mkdir(parents=True)
    executable(half_made / "python", "exit 9")
    both = [
        subprocess.Popen(
            ["sh", str(script)],
            env={"PATH": os.environ["PATH"], **offline(project)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    answers = sorted(process.communicate() for process in both)
    third = shell(script, os.environ["PATH"], **offline(project))

    # The pins change while the package index is out of reach.
    with (project / "requirements.txt").open("a") as requirements:
        requirements.write(f"other==1.0 --hash=sha256:{'0' * 64}\n")
    no_network = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/"}
    last = shell(script, os.environ["PATH"], **offline(project, **no_network))

    note = "Installing the packages of requirements.txt (once, about a minute) ...\n"
    assert answers == [("tiny\n", ""), ("tiny\n", note)]
    assert (third.stdout, third.stderr) == ("tiny\n", "")
    assert (last.returncode, last.stdout, last.stderr) == (
        1,
        "",
        note + "Cannot download the packages of requirements.txt: the package index does not "
        "answer. Start again when this machine is online. "
        f"All pip said is in {project}/.venv/pip.log\n",
    )


@pytest.mark.parametrize("what", ["web", "worker"])
def test_it_refuses_to_start_naming_the_missing_variable(what: str, tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "osmosis_web.server", what],
        cwd=PROJECT,
        env={
            "PATH": os.environ["PATH"],
            "DATA_DIR": str(tmp_path),
            "PUBLIC_URL": "http://127.0.0.1:8000",
        },
        capture_output=True,
        text=True,
    )

    assert (answer.returncode, answer.stdout, answer.stderr) == (
        1,
        "",
        "SECRET_KEY is not set. docs/configuration.md says what it is for.\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_it_says_that_the_database_does_not_answer(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "osmosis_web.prepare", "migrate"],
        cwd=PROJECT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "osmosis_web.settings",
            "DATABASE_URL": "postgresql://127.0.0.1:1/nowhere",
            "ENCRYPTION_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
            "DATA_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
    )

    assert (answer.returncode, answer.stdout, answer.stderr) == (
        1,
        "",
        "The database named by DATABASE_URL does not answer: connection failed: connection to "
        'server at "127.0.0.1", port 1 failed: Connection refused\n',
    )
