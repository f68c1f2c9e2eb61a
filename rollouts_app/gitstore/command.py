"""The one place that runs git: surroundings, time and size.

A git run here sees no configuration but ours, asks nobody anything, runs no hooks and speaks only
the protocols it is allowed. Settings, among them the address and the token, go by the environment:
neither arguments nor files, which others could read, ever hold them.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.refusals import Unusable

READ_BYTES = 1 << 18
ERROR_BYTES = 1 << 18
# What the network between us and the host may need: search path, certificates, proxies.
INHERITED = (
    *("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
    *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
)
SURROUNDINGS = {
    "LC_ALL": "C",  # its messages are read
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",  # heeded from git 2.44
}
SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.bigFileThreshold": "2m",  # larger files pass through without being held in memory
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.threads": "1",
}
# Headers only, and without the one that holds the token (which is git's default, too).
HEADER_TRACE = {"GIT_TRACE_CURL": "1", "GIT_TRACE_CURL_NO_DATA": "1", "GIT_TRACE_REDACT": "1"}
# `ulimit -f` counts blocks of 512 bytes. The signal at the limit is ignored, as a write that fails
# makes git say why it ended.
LIMITED = ("/bin/sh", "-c", 'trap "" XFSZ && ulimit -f "$0" && exec "$@"')
BLOCK = 512


@dataclass(frozen=True)
class Call:
    """One run of git, and what it may cost. Times in seconds, sizes in bytes."""

    arguments: Sequence[str]
    repository: Path
    home: Path
    seconds: float
    most_bytes: int
    stdin: bytes = b""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Sequence[str] = field(default=(), repr=False)  # taken out of what git says
    protocols: str = "none"
    most_file_bytes: int | None = None  # of each file it writes
    trace: bool = False  # of the HTTP headers, on standard error
    lock: int | None = None  # a file descriptor to inherit


class Failed(Exception):
    """git ended with another code than 0; its standard error says why."""

    def __init__(self, code: int, stderr: str) -> None:
        super().__init__(f"git ended with {code}")
        self.code = code
        self.stderr = stderr


@dataclass(frozen=True)
class Ended:
    """What a git that ended well has said."""

    stdout: bytes
    stderr: str


class TimeIsUp(Unavailable):
    """git was stopped: it, or the host it talked to, took too long."""


def run(call: Call) -> Ended:
    """Run git to its end. Raises Failed, TimeIsUp, or Unavailable where git cannot be used."""
    output = bytearray()
    with contextlib.closing(stream(call)) as chunks:
        while True:
            try:
                output += next(chunks)
            except StopIteration as end:
                return Ended(bytes(output), end.value)
            if len(output) > call.most_bytes:
                raise Unavailable(f"git's answer has more than {call.most_bytes:,} bytes.")


def stream(call: Call) -> Generator[bytes, None, str]:
    """The chunks of git's output as they come, then its standard error.

    Raises like `run`; closing it ends git.

    Only the time spent waiting for git counts against the limit.
    """
    process = _start(call)
    try:
        with _Pump(process, call.stdin, call.seconds) as pump:
            yield from pump.chunks()
            code = process.wait(timeout=max(pump.seconds_left, 1))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise TimeIsUp(f"git did not finish within {call.seconds:g} s.") from None
    finally:
        # git starts helpers of its own, so its whole group goes. Where it was not waited for, the
        # number still belongs to it, be it alive or not.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = _without(call.secrets, pump.errors())
    if code:
        raise Failed(code, said)
    return said


def _start(call: Call) -> "subprocess.Popen[bytes]":
    git = shutil.which("git")
    if git is None:
        raise Unusable("The git command is missing on this server. Install git 2.31 or newer.")
    command = [git, *call.arguments]
    if call.most_file_bytes is not None:
        command = [*LIMITED, str(call.most_file_bytes // BLOCK + 1), *command]
    try:
        return subprocess.Popen(
            command,
            env=_environment(call),
            cwd=call.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=() if call.lock is None else (call.lock,),
            start_new_session=True,
        )
    except OSError as error:
        if not call.home.is_dir():
            raise Failed(128, "not a git repository: its folder is gone") from error
        raise Unusable(f"git cannot be started on this server: {error.strerror}.") from error


def _without(secrets: Sequence[str], text: str) -> str:
    """Git hides the token in its traces, but not all of its versions, nor what a host repeats."""
    for secret in secrets:
        text = text.replace(secret, "<redacted>")
    return text


def _environment(call: Call) -> dict[str, str]:
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= SURROUNDINGS
    environment |= {
        "HOME": str(call.home),
        "GIT_DIR": str(call.repository),
        "GIT_ALLOW_PROTOCOL": call.protocols,
    }
    if call.trace:
        environment |= HEADER_TRACE
    settings = SETTINGS | dict(call.settings)
    environment["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


class _Pump:
    """Feeds and reads the three pipes of a process at once, so that none of them can block."""

    def __init__(self, process: "subprocess.Popen[bytes]", stdin: bytes, seconds: float) -> None:
        self.seconds_left = seconds
        self._unsent = memoryview(stdin)
        self._errors = bytearray()
        self._stdin = cast("IO[bytes]", process.stdin)
        self._stdout = cast("IO[bytes]", process.stdout)
        self._stderr = cast("IO[bytes]", process.stderr)
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> "_Pump":
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        return self

    def __exit__(self, *exception: object) -> None:
        self._selector.close()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()

    def chunks(self) -> Iterator[bytes]:
        """Output as it comes, until git has closed both outputs. Raises TimeoutError."""
        while self._selector.get_map():
            for pipe in self._ready():
                if pipe is self._stdin:
                    self._send()
                elif pipe is self._stderr:
                    self._errors += self._read(self._stderr)
                    del self._errors[:-ERROR_BYTES]
                elif chunk := self._read(self._stdout):
                    yield chunk

    def errors(self) -> str:
        """The end of what git said on standard error."""
        return self._errors.decode(errors="replace")

    def _ready(self) -> list[object]:
        started = time.monotonic()
        ready = self._selector.select(max(self.seconds_left, 0))
        self.seconds_left -= time.monotonic() - started
        if not ready or self.seconds_left < 0:
            raise TimeoutError
        return [key.fileobj for key, _events in ready]

    def _send(self) -> None:
        try:
            sent = os.write(self._stdin.fileno(), self._unsent[:READ_BYTES]) if self._unsent else 0
        except BrokenPipeError:
            # git ended early; why stands in its exit code and standard error.
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._stdin)
            self._stdin.close()

    def _read(self, pipe: IO[bytes]) -> bytes:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self._selector.unregister(pipe)
        return chunk
