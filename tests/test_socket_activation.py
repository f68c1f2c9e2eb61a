"""Restarts that nobody notices: systemd keeps the address open while the web server changes."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.serving import static_files
from tests.workers import ROOT, worker_environment

pytestmark = pytest.mark.django_db(transaction=True)

# What systemd does: the socket at descriptor 3, and the process told that it is meant.
ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, "-m", "osmosis_web.server", "web"])
"""


@contextmanager
def activated(door: socket.socket, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`script/server`, its environment made, with a socket that listens already."""
    host, port = door.getsockname()
    settings = {"PUBLIC_URL": f"http://{host}:{port}", "BIND": f"{host}:{port}"}
    with (folder / "web.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", ACTIVATE, str(door.fileno())],
            cwd=ROOT,
            env={**worker_environment(), **settings, "DATA_DIR": str(folder)},
            stdout=log,
            stderr=log,
            pass_fds=[door.fileno()],
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_restart_refuses_nobody(tmp_path: Path) -> None:
    (tmp_path / "static").symlink_to(static_files())
    with socket.create_server(("127.0.0.1", 0), backlog=128) as door, ThreadPoolExecutor(1) as one:
        url = "http://{}:{}/healthz".format(*door.getsockname())
        with activated(door, tmp_path) as before:
            assert requests.get(url, timeout=60).status_code == 200
            before.send_signal(signal.SIGTERM)
            assert before.wait(20) == 0
        waiting = one.submit(requests.get, url, timeout=60)
        with activated(door, tmp_path):
            assert waiting.result().status_code == 200
    log = (tmp_path / "web.log").read_text()
    assert log.count("Starting gunicorn") == 2
