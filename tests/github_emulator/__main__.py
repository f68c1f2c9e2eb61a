"""Runs the emulator as a process: `python -m tests.github_emulator --folder F --port P …`."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from . import GitHubEmulator
from .sample import seed

CALLBACK = "/accounts/github/login/callback/"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; 1 when the port is taken."""
    options = _options(arguments)
    logging.basicConfig(level=logging.WARNING, format="github emulator: %(message)s")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    github = GitHubEmulator(options.folder, options.port, anonymous_git=options.anonymous_git)
    try:
        github.start()
    except OSError as error:
        reason = error.strerror or error
        sys.stderr.write(
            f"The GitHub emulator cannot listen on 127.0.0.1:{options.port} ({reason}): "
            "end what is running there, or choose another port.\n"
        )
        return 1
    if options.seed and not github.state.accounts:
        seed(github)
    if options.public_url:
        _introduce(github, options.public_url.rstrip("/"))
    _write_credentials(github)
    sys.stdout.write(f"GitHub emulator ready at {github.url}\n")
    sys.stdout.flush()
    ended.wait()
    github.stop()
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="github_emulator", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where everything is kept")
    parser.add_argument("--port", type=int, default=0, help="on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--public-url", help="of the server the App belongs to")
    parser.add_argument("--seed", action="store_true", help="with the sample world, if empty")
    parser.add_argument(
        "--anonymous-git",
        action="store_true",
        help="let anybody clone and push",
    )
    return parser.parse_args(arguments)


def _introduce(github: GitHubEmulator, public_url: str) -> None:
    """Tell the App's addresses to the emulator, as its owner would at GitHub."""
    app = github.app
    app.webhook_url = f"{public_url}/webhooks/github"
    app.callback_urls = [public_url + CALLBACK]
    app.setup_url = f"{public_url}/onboarding/installed"
    github.keep()


def _write_credentials(github: GitHubEmulator) -> None:
    """Leave app.json and the private key in the folder, readable by their owner alone."""
    app = github.app
    key_file = github.folder / "app.private-key.pem"
    _write(key_file, app.private_key)
    credentials = {
        "id": app.id,
        "slug": app.slug,
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "webhook_secret": app.webhook_secret,
        "private_key_file": str(key_file.absolute()),
        "url": github.url,
    }
    _write(github.folder / "app.json", json.dumps(credentials, indent=2) + "\n")


def _write(path: Path, content: str) -> None:
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    fresh.replace(path)


if __name__ == "__main__":
    sys.exit(main())
