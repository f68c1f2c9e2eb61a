"""What `deploy/` offers: checked as far as that goes without the machines it is for."""

import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.proxies import DEPLOY, program
from tests.workers import ROOT, worker_environment

UNITS = sorted((DEPLOY / "systemd").iterdir())
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VARIABLE = re.compile(r"^(?:Environment=)?([A-Z][A-Z_]+)=", re.MULTILINE)


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units, for a server that lies here; of the template, one instance.

    By another way here: in units, spaces of a path would have to be escaped.
    """
    folder = tmp_path_factory.mktemp("units")
    here = tmp_path_factory.mktemp("server") / "osmosis-web"
    here.symlink_to(ROOT)
    for unit in UNITS:
        text = unit.read_text().replace("/opt/osmosis-web", str(here))
        (folder / unit.name.replace("@.", "@1.")).write_text(text)
    return folder


def test_systemd_understands_every_unit(units: Path) -> None:
    verify = program("systemd-analyze", "systemd")
    answer = subprocess.run(
        [verify, "verify", "--man=no", "--recursive-errors=no", *map(str, sorted(units.iterdir()))],
        capture_output=True,
        text=True,
    )
    assert (answer.stdout, answer.stderr, answer.returncode) == ("", "", 0)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"])
def test_a_unit_leads_to_scripts_that_exist(unit: Path) -> None:
    scripts = re.findall(r"/opt/osmosis-web/(script/\w+)", unit.read_text())
    assert scripts
    assert all((ROOT / script).stat().st_mode & 0o100 for script in scripts)


@pytest.mark.parametrize("file", [DEPLOY / "environment.example", *UNITS], ids=lambda f: f.name)
def test_it_sets_only_variables_that_are_explained(file: Path) -> None:
    explained = re.findall(r"`([A-Z_]+)`", (ROOT / "docs" / "configuration.md").read_text())
    assert set(VARIABLE.findall(file.read_text())) - set(explained) == set()


def image(folder: Path) -> None:
    """What the Containerfile copies, less what its ignore file keeps out."""
    patterns = (ROOT / ".containerignore").read_text().split()
    kept = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    for source, target in re.findall(r"^COPY (\S+) (\S+)$", CONTAINERFILE, re.MULTILINE):
        assert any(fnmatch(source.split("/")[0], name) for name in kept), f"{source} is ignored"
        if (ROOT / source).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, folder / target, ignore=ignore, dirs_exist_ok=True)
        else:
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, folder / target)


@pytest.mark.django_db
def test_the_image_holds_all_that_the_server_needs(tmp_path: Path) -> None:
    image(tmp_path)
    answer = subprocess.run(
        [sys.executable, "-m", "osmosis_web.prepare", "check", "collectstatic"],
        cwd=tmp_path,
        env={**worker_environment(), "DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    scripts = [f"script/{name}" for name in ("server", "worker", "manage", "bootstrap")]
    assert [(tmp_path / script).exists() for script in scripts] == [True] * 4


def test_the_image_is_run_by_nobody_special() -> None:
    assert re.findall(r"^USER (\w+)$", CONTAINERFILE, re.MULTILINE) == ["osmosis"]
    assert "CMD" in CONTAINERFILE.splitlines()[-1]


def test_compose_starts_web_and_worker_from_one_image() -> None:
    services = COMPOSE["services"]
    ours = [name for name, service in services.items() if service["image"] == "osmosis-web"]
    assert ours == ["web", "worker"]
    build = services["web"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Containerfile"
    assert services["worker"]["command"] == ["script/worker"]


def test_compose_names_no_volume_and_no_service_that_is_not_there() -> None:
    services = COMPOSE["services"]
    volumes = {volume.split(":")[0] for one in services.values() for volume in one["volumes"]}
    needed = {name for one in services.values() for name in one.get("depends_on", [])}
    assert volumes == set(COMPOSE["volumes"])
    assert needed <= set(services)
