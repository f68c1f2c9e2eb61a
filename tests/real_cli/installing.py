"""Where the pinned command line is: installed once, outside the checkout, for all later runs."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

PINS = Path(__file__).with_name("requirements.txt")
ASK = "import sys; print(sys.version_info >= (3, 12) and '%d.%d.%d' % sys.version_info[:3] or '')"
NO_PYTHON = (
    "The osmosis command line needs Python 3.12 or newer, and there is none on PATH or under "
    "pyenv. Install one: `pyenv install 3.12`, or a python3.12 package."
)


class NotInstallable(Exception):
    """It cannot be had here. The message says why, and what to do."""


def command_line() -> Path:
    """The pinned `osmosis`, installed now if it has not been. Raises `NotInstallable`."""
    python, version = _python()
    pins = hashlib.sha256(PINS.read_bytes()).hexdigest()[:12]
    folder = _cache() / f"osmosis-cli-{version}-{pins}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Two test processes may come here at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _install(python, folder)
            (folder / "complete").touch()
    return folder / "venv" / "bin" / "osmosis"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "osmosis-web"


def _python() -> tuple[Path, str]:
    for candidate in _candidates():
        asked = subprocess.run([candidate, "-c", ASK], capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.strip():
            return candidate, asked.stdout.strip()
    raise NotInstallable(NO_PYTHON)


def _candidates() -> Iterator[Path]:
    """Interpreters that may be new enough. pyenv's own names for them do not start alone."""
    for name in ("python3.12", "python3.13", "python3.14", "python3"):
        if found := shutil.which(name):
            yield Path(found)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(root.glob("versions/3.1[2-9]*/bin/python3"))


def _install(python: Path, folder: Path) -> None:
    venv = folder / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    steps = (
        [str(python), "-m", "venv", str(venv)],
        [str(venv / "bin" / "pip"), "install", "-q", "--require-hashes", "-r", str(PINS)],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise NotInstallable(f"The osmosis command line could not be installed: {said[0]}")
