"""Disks without room, really: small file systems of their own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A folder on a disk of 1 MiB. Skips the test where none can be had."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("A small disk of its own needs the right to mount one.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, name: str = "ballast") -> Path:
    """Take all the room there is."""
    path = disk / name
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return path
