"""Third-party notices name all that we run on, as it is pinned and licensed today."""

import re
from pathlib import Path

import pytest

from tests.notices import NOTICES, ROOT, notices, pins

# Licences that let a self-hosted server be run, changed and handed on without asking us.
ACCEPTED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "LGPL-3.0-only", "MIT", "MIT-0"),
    *("MPL-2.0", "PSF-2.0"),
}
VENDORED = [ROOT / "static" / "vendor", ROOT / "tests" / "github_schemas"]


def test_it_is_what_the_packages_say_of_themselves() -> None:
    again = "python -m tests.notices > THIRD-PARTY-NOTICES.md"
    assert NOTICES.read_text() == notices(), f"Write it anew: {again}"


def test_it_names_no_licence_that_nobody_has_looked_at() -> None:
    licences = re.findall(r"^\| [\w.-]+ \| [\d][\w.]* \| ([^|]+) \|", NOTICES.read_text(), re.M)
    words = {word for licence in licences for word in re.split(r" (?:AND|OR) ", licence)}
    assert len(licences) == len(pins())
    assert words - ACCEPTED == set()


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.name)
def test_each_vendored_package_comes_with_its_licence(folder: Path) -> None:
    linked = re.findall(r"\]\((LICENSE-[\w.-]+)\)", (folder / "README.md").read_text())
    kept = [path.name for path in folder.glob("LICENSE-*") if path.read_text().strip()]
    assert sorted(set(linked)) == sorted(kept)
