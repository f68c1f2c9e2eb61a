"""The demo: everything on this machine, on loopback only, with a small GitHub of its own.

    python -m osmosis_web.demo [--port 8000] [--data FOLDER] [--reset]

It starts the embedded PostgreSQL, the GitHub emulator (on the next port), the web server and a
worker, and keeps them running until Ctrl-C. What they keep, and what they say, lies in FOLDER.
"""

import json
import os
import secrets
import shutil
import signal
import sys
import time
from argparse import ArgumentParser
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from cryptography.fernet import Fernet

from osmosis_web import postgres
from osmosis_web.locks import try_lock
from osmosis_web.postgres import PostgresError
from osmosis_web.processes import CannotStart, Program, Stopped, Supervisor
from osmosis_web.server import PROJECT, port_is_free, web_command, worker_command
from osmosis_web.welcome import welcome

HOST = "127.0.0.1"
START_SECONDS = 60.0

# How long what a killed demo leaves running may take to end.
PATIENCE_SECONDS = 2.0

# What of the caller's environment the demo may see: its own settings are complete, and those of a
# real server must not leak into it.
KEPT_VARIABLES = {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH", "TMPDIR", "TZ"}


class CannotRun(Exception):
    """The demo cannot run here and now. The message is a sentence."""


@dataclass(frozen=True)
class Demo:
    """One demo: where it keeps its data, and the port of its web server."""

    data: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def github_url(self) -> str:
        return f"http://{HOST}:{self.port + 1}"

    @property
    def github(self) -> Path:
        """The emulator's folder: repositories, key, secrets, and `app.json` for us."""
        return self.data / "github"

    def log(self, name: str) -> Path:
        return self.data / "logs" / f"{name}.log"

    def run(self, *, reset: bool) -> None:
        """Run until we are told to stop. Raises what `main` makes sentences of."""
        note = self.data / "demo.pid"
        self._make_folder()
        lock = try_lock(note)
        if lock is None:
            pid, address = note.read_text().split()
            raise CannotRun(
                f"The demo is already running at {address}. "
                f"Stop it with Ctrl-C where it was started, or by: kill {pid}"
            )
        note.write_text(f"{os.getpid()} {self.url}")
        self._check_ports()
        if reset:
            self.forget()
        self._start_logs()
        say("Starting the database, a small GitHub, the web server and a worker ...")
        with postgres.running(self.data / "postgres") as database:
            os.environ["DATABASE_URL"] = database
            # gunicorn takes SIGTERM for a wish to finish its requests, and SIGINT for haste.
            with Supervisor(stop_signal=signal.SIGINT) as supervisor:
                self._start_programs(supervisor)
                say(welcome(self.url, self.github_url, self.data / "logs"))
                supervisor.watch()

    def _start_programs(self, supervisor: Supervisor) -> None:
        (self.github / "app.json").unlink(missing_ok=True)  # the emulator writes it when it is up
        supervisor.start(Program("github", self._github_command(), log=self.log("github")))
        supervisor.wait_until(
            lambda: answers(self.port + 1) and (self.github / "app.json").exists(),
            seconds=START_SECONDS,
            waiting_for="github",
        )
        os.environ.update(self._environment())
        commands = ("migrate", "collectstatic", "demo")
        supervisor.finish(
            Program(
                "prepare",
                [sys.executable, "-m", "osmosis_web.prepare", *commands],
                log=self.log("prepare"),
            )
        )
        supervisor.start(Program("worker", worker_command(), log=self.log("worker")))
        web = web_command(f"{HOST}:{self.port}")
        supervisor.start(Program("web", web, log=self.log("web")))
        supervisor.wait_until(lambda: answers(self.port), seconds=START_SECONDS, waiting_for="web")

    def _github_command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "tests.github_emulator", "--folder", str(self.github)),
            *("--port", str(self.port + 1), "--public-url", self.url, "--seed"),
            "--anonymous-git",
        ]

    def _environment(self) -> dict[str, str]:
        app = json.loads((self.github / "app.json").read_text())
        return {
            **self.secrets(),
            "PUBLIC_URL": self.url,
            "DATA_DIR": str(self.data),
            "GITHUB_URL": self.github_url,
            "SIGN_IN": "everybody",
            "GITHUB_APP_ID": str(app["id"]),
            "GITHUB_APP_SLUG": app["slug"],
            "GITHUB_APP_CLIENT_ID": app["client_id"],
            "GITHUB_APP_CLIENT_SECRET": app["client_secret"],
            "GITHUB_APP_PRIVATE_KEY_FILE": app["private_key_file"],
            "GITHUB_APP_WEBHOOK_SECRET": app["webhook_secret"],
        }

    def secrets(self) -> dict[str, str]:
        """Ours, made on the first start and kept with the data they protect."""
        file = self.data / "secrets.json"
        if not file.exists():
            made = {
                "SECRET_KEY": secrets.token_urlsafe(50),
                "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            }
            unfinished = file.with_suffix(".new")
            unfinished.touch(mode=0o600)
            unfinished.write_text(json.dumps(made))
            unfinished.rename(file)
        kept: dict[str, str] = json.loads(file.read_text())
        return kept

    def _make_folder(self) -> None:
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotRun(f"Cannot make the folder {self.data}: {error.strerror}.") from error
        if not os.access(self.data, os.W_OK):
            raise CannotRun(f"Cannot write to {self.data}. Choose another folder with --data.")

    def _check_ports(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        for port in (self.port, self.port + 1):
            while not port_is_free(HOST, port):
                if time.monotonic() > deadline:
                    raise CannotRun(
                        f"Port {port} is in use by another program. Choose two others, such as "
                        f"{self.port + 100} and the next: script/demo --port {self.port + 100}"
                    )
                time.sleep(0.05)

    def forget(self) -> None:
        """Remove what the demo has made, and nothing else that may lie in its folder."""
        postgres.remove_database(self.data / "postgres")
        for name in ("github", "git", "static"):
            shutil.rmtree(self.data / name, ignore_errors=True)
        (self.data / "secrets.json").unlink(missing_ok=True)

    def _start_logs(self) -> None:
        shutil.rmtree(self.data / "logs", ignore_errors=True)
        (self.data / "logs").mkdir()


def answers(port: int) -> bool:
    """Whether a web server there has a page to show."""
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def parse() -> tuple[Demo, bool]:
    parser = ArgumentParser(prog="script/demo", description="Try Osmosis Web on this machine.")
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))
    parser.add_argument("--data", type=Path, default=PROJECT / ".data" / "demo")
    parser.add_argument("--reset", action="store_true", help="start over with the sample world")
    arguments = parser.parse_args()
    if not 1 <= arguments.port < 65535:
        parser.error("--port must be between 1 and 65534; GitHub gets the next one")
    return Demo(arguments.data.resolve(), arguments.port), arguments.reset


def main() -> int:
    demo, reset = parse()
    kept = {name: os.environ[name] for name in KEPT_VARIABLES & set(os.environ)}
    os.environ.clear()
    os.environ.update(kept)
    os.chdir(PROJECT)
    try:
        demo.run(reset=reset)
    except Stopped:
        say("\nStopped. script/demo continues where you left; script/demo --reset starts over.")
    except KeyboardInterrupt:
        return 130
    except (CannotRun, CannotStart, PostgresError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
