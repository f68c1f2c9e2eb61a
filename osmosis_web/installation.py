"""Make a virtual environment with the pinned packages, when it is missing or out of date.

    python3 osmosis_web/installation.py VENV REQUIREMENTS-FILE

Run by the scripts before anything is installed, so it knows the standard library only. What is
missing on this machine is said in one sentence.
"""

import fcntl
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent

# The first git that takes settings from its environment (GIT_CONFIG_COUNT), where tokens belong.
OLDEST_GIT = (2, 31)

SIGNS_OF_NO_NETWORK = (
    "connection broken by",
    "NewConnectionError",
    "NameResolutionError",
    "Temporary failure in name resolution",
    "Read timed out",
)


def main(venv_name: str, requirements_name: str) -> None:
    check_git()
    venv, requirements = PROJECT / venv_name, PROJECT / requirements_name
    try:
        with requirements.open("rb") as file:
            # Of two scripts started together, the second waits until the first is done.
            fcntl.flock(file, fcntl.LOCK_EX)
            install(venv, requirements, file.read())
    except OSError as error:
        sys.exit(f"Cannot make {venv}: {error.strerror} ({error.filename}).")
    except KeyboardInterrupt:
        sys.exit(130)


def check_git() -> None:
    """End with a sentence unless there is a git that is new enough."""
    how = "Install git (on Debian and Ubuntu: apt install git) and start again."
    git = shutil.which("git")
    if git is None:
        sys.exit(f"git is missing. {how}")
    answer = subprocess.run([git, "--version"], capture_output=True, text=True).stdout.strip()
    version = tuple(int(number) for number in re.findall(r"\d+", answer)[:2])
    if version < OLDEST_GIT:
        sys.exit(f"git 2.31 or newer is needed, and this is {answer}. {how}")


def install(venv: Path, requirements: Path, pins: bytes) -> None:
    """Bring the environment up to date. Half-made ones, and those of another Python, are remade."""
    python = f"{sys.version} {sys.executable} {venv}"
    packages = hashlib.sha256(pins).hexdigest()
    stamp = venv / "installed"
    installed = stamp.read_text().splitlines() if stamp.exists() else []
    wanted = [hashlib.sha256(python.encode()).hexdigest(), packages]
    if installed == wanted:
        return
    sys.stderr.write(f"Installing the packages of {requirements.name} (once, about a minute) ...\n")
    stamp.unlink(missing_ok=True)
    if installed[:1] != wanted[:1]:
        make(venv)
    fill(venv, requirements)
    stamp.write_text("\n".join(wanted))


def make(venv: Path) -> None:
    """Make an empty environment in place of what is there."""
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        command = [sys.executable, "-m", "venv", "--clear", str(venv)]
        attempt = subprocess.run(command, capture_output=True, text=True)
        if attempt.returncode != 0:
            sys.exit(f"Cannot make {venv}: {last_line(attempt.stdout + attempt.stderr)}")
        return
    version = "{}.{}".format(*sys.version_info)
    sys.exit(
        f"Python {version} at {sys.executable} lacks its venv module. Install it (on Debian and "
        "Ubuntu: apt install python3-venv) and start again."
    )


def fill(venv: Path, requirements: Path) -> None:
    """Install the pinned packages; what pip says is kept beside them."""
    log = venv / "pip.log"
    with log.open("w") as output:
        pip = subprocess.run(
            [
                *(str(venv / "bin" / "python"), "-m", "pip", "install", "--no-input"),
                *("--disable-pip-version-check", "--retries", "2", "--require-hashes"),
                *("--requirement", str(requirements)),
            ],
            stdout=output,
            stderr=output,
        )
    if pip.returncode == 0:
        return
    said = log.read_text(errors="replace")
    if any(sign in said for sign in SIGNS_OF_NO_NETWORK):
        sys.exit(
            f"Cannot download the packages of {requirements.name}: the package index does not "
            f"answer. Start again when this machine is online. All pip said is in {log}"
        )
    reason = last_line(said).removeprefix("ERROR: ")
    sys.exit(f"Cannot install the packages of {requirements.name}: {reason} (see {log})")


def last_line(text: str) -> str:
    return ([line for line in text.splitlines() if line.strip()] or ["no reason given"])[-1].strip()


if __name__ == "__main__":
    main(*sys.argv[1:])
