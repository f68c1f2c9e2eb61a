"""The supervisor, with real programs: small ones that note what happens to them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from osmosis_web.processes import CannotStart, Program, Stopped, Supervisor
from tests.waiting import wait_until

PROJECT = Path(__file__).resolve().parent.parent

# Runs until it is told to stop, and says when that was, by one write that no other parts. Its child
# does not listen.
STEADY = """
import os, subprocess, sys, signal, time
child = subprocess.Popen(["sh", "-c", "trap '' TERM INT; exec sleep 20"], stdout=subprocess.DEVNULL)
def stop(number, frame):
    os.write(1, f"{sys.argv[1]} stopped\\n".encode())
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
os.write(1, f"{sys.argv[1]} up {os.getpid()} {child.pid}\\n".encode())
time.sleep(60)
"""
STUBBORN = "trap '' TERM; echo up; while true; do sleep 0.1; done"

# What `script/server --with-worker` is, in small.
TWO_PROGRAMS = f"""
import sys
from osmosis_web.processes import Program, Stopped, Supervisor
steady = {STEADY!r}
try:
    with Supervisor() as supervisor:
        for name in ["first", "second"]:
            supervisor.start(Program(name, [sys.executable, "-c", steady, name]))
        supervisor.watch()
except Stopped:
    print("all stopped")
"""


def is_alive(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    ).stdout.strip()
    return state != "" and not state.startswith("Z")


def steady(name: str, log: Path) -> Program:
    return Program(name, [sys.executable, "-c", STEADY, name], log=log)


def shell(name: str, script: str, log: Path) -> Program:
    return Program(name, ["sh", "-c", script], log=log)


def interrupt_after(seconds: float) -> subprocess.Popen[bytes]:
    """Send ourselves what `kill` sends, a little later."""
    return subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill {os.getpid()}"])


def test_it_ends_everything_within_a_second_of_ctrl_c_and_says_nothing_odd() -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", TWO_PROGRAMS],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert supervisor.stdout
    first_lines = [supervisor.stdout.readline().split() for _ in range(2)]
    children = [int(number) for line in first_lines for number in line[2:]]
    start = time.monotonic()
    os.killpg(supervisor.pid, signal.SIGINT)
    output, errors = supervisor.communicate()

    assert time.monotonic() - start < 5
    # Two programs may write into one line at the same moment.
    words = sorted(output.replace("stopped", " stopped ").split())
    assert words == ["all", "first", "second", "stopped", "stopped", "stopped"]
    assert errors == ""
    assert supervisor.returncode == 0
    assert [is_alive(child) for child in children] == [False] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a killed parent")
def test_it_takes_its_programs_along_when_it_is_killed() -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", TWO_PROGRAMS], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    assert supervisor.stdout
    programs = [int(supervisor.stdout.readline().split()[2]) for _ in range(2)]
    supervisor.kill()
    supervisor.communicate()

    wait_until(lambda: not any(is_alive(program) for program in programs), seconds=3)


def test_it_starts_a_dead_program_again_at_once(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    script = f"""
        until grep -q up '{log}'; do sleep 0.05; done 2>/dev/null
        kill -KILL $(cut -d' ' -f3 '{log}'); sleep 1; kill {os.getpid()}
    """
    killer = subprocess.Popen(["sh", "-c", script])
    with Supervisor() as supervisor:
        supervisor.start(steady("web", log))
        with pytest.raises(Stopped):
            supervisor.watch()
    killer.wait()

    words = [line.split()[:2] for line in log.read_text().splitlines()]
    assert words == [["web", "up"], ["web", "up"], ["web", "stopped"]]


def test_it_gives_up_on_a_program_that_never_stays_up(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    start = time.monotonic()
    with Supervisor() as supervisor:
        supervisor.start(steady("web", tmp_path / "web.log"))
        supervisor.start(shell("worker", "echo no database; exit 3", log))
        with pytest.raises(CannotStart) as failure:
            supervisor.watch()

    assert str(failure.value) == (
        "worker ended with code 3.\n"
        "    no database\n    no database\n    no database\n    no database\n"
        f"  All of it is in {log}"
    )
    assert 0.75 < time.monotonic() - start < 3


def test_it_kills_what_does_not_stop(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with Supervisor(stop_seconds=0.3) as supervisor:
        supervisor.start(shell("web", STUBBORN, log))
        supervisor.wait_until(lambda: log.read_text() == "up\n", seconds=5, waiting_for="web")
        start = time.monotonic()

    assert 0.3 <= time.monotonic() - start < 1.5


def test_it_does_not_wait_when_asked_twice(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    impatient = interrupt_after(0.8)
    start = time.monotonic()
    with Supervisor(stop_seconds=30) as supervisor:
        supervisor.start(shell("web", STUBBORN, log))
        supervisor.wait_until(lambda: log.read_text() == "up\n", seconds=5, waiting_for="web")
    impatient.wait()

    assert time.monotonic() - start < 5


def test_it_waits_for_a_step_and_says_why_it_failed(tmp_path: Path) -> None:
    log = tmp_path / "migrate.log"
    with Supervisor() as supervisor:
        supervisor.finish(shell("migrate", "echo done", log))
        assert log.read_text() == "done\n"
        with pytest.raises(CannotStart) as failure:
            supervisor.finish(shell("migrate", "kill -9 $$", log))

    assert str(failure.value) == (
        f"migrate was ended by SIGKILL.\n    done\n  All of it is in {log}"
    )


def test_it_stops_in_the_middle_of_a_step(tmp_path: Path) -> None:
    impatient = interrupt_after(0.3)
    start = time.monotonic()
    with Supervisor() as supervisor, pytest.raises(Stopped):
        supervisor.finish(shell("migrate", "exec sleep 60", tmp_path / "migrate.log"))
    impatient.wait()

    assert time.monotonic() - start < 2


def test_it_says_which_program_is_not_ready_in_time(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with Supervisor() as supervisor:
        supervisor.start(shell("web", "echo thinking; exec sleep 60", log))
        with pytest.raises(CannotStart) as failure:
            supervisor.wait_until(lambda: False, seconds=0.5, waiting_for="web")

    assert str(failure.value) == (
        f"web is not ready after 0.5 s.\n    thinking\n  All of it is in {log}"
    )


def test_it_says_which_program_ended_while_another_gets_ready(tmp_path: Path) -> None:
    with Supervisor() as supervisor:
        supervisor.start(shell("web", "exec sleep 60", tmp_path / "web.log"))
        supervisor.start(Program("worker", ["sh", "-c", "exit 1"]))
        with pytest.raises(CannotStart) as failure:
            supervisor.wait_until(lambda: False, seconds=5, waiting_for="web")

    assert str(failure.value) == "worker ended with code 1."


def test_it_gives_signals_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Supervisor():
        assert signal.getsignal(signal.SIGTERM) != before

    assert signal.getsignal(signal.SIGTERM) == before
