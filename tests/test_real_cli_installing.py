"""Where the real command line comes from, and what is said where there is no Python for it."""

import os
import sys
from pathlib import Path

import pytest

from tests.real_cli.installing import NO_PYTHON, NotInstallable, command_line


def test_without_a_python_for_it_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NotInstallable) as problem:
        command_line()
    assert str(problem.value) == NO_PYTHON
    assert not (tmp_path / "cache").exists()


def test_an_older_python_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("The Python that runs these tests is new enough itself.")
    os.symlink(sys.executable, tmp_path / "python3")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(NotInstallable):
        command_line()
