"""Imports point down: a package may only use what lies below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "rollouts_app"

LAYERS = [
    {"errors", "refusals", "vault", "addresses", "meters", "rates", "tracing"},
    {"models", "github", "gitstore", "catalog"},
    {"audit", "github_app"},
    {"policy", "setup_token"},
    {"sync", "forms", "templatetags", "accounts", "readmes"},
    {
        "connection",
        "commands",
        "memberships",
        "doctor",
        "github_setup",
        "administrators",
        "checklist",
        "metrics",
        "backup",
    },
    {"server_forms"},
    {
        *("onboarding", "choosing", "invitations", "readers", "workspaces", "installing"),
        *("starting", "standing", "api_keys", "device_login"),
    },
    {"views", "cli_api", "management"},
    {"urls"},
]
# Helpers of the doors, which the pages among them share.
SHARED_BY_VIEWS = {
    *("access", "arrivals", "asked", "browsers", "confirming", "contents", "filters", "fragments"),
    *(
        "freshness",
        "hints",
        "history",
        "listing",
        "own_push",
        "rows",
        "setup_first",
        "steps",
        "trouble",
        "twins",
    ),
    *("unconnected", "versions"),
}
OUTSIDE = {"apps", "migrations", "__init__"}


def place(path: Path) -> tuple[str, ...]:
    """A file as the names of its module inside the app: ("views", "rollouts")."""
    return path.relative_to(APP).with_suffix("").parts


def level(package: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if package in layer)


def imports_of(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == "tests" or (first == "osmosis_web" and rest != ["__version__"]):
                yield (first,)
            elif first == "rollouts_app" and rest:
                yield tuple(rest)


def sources() -> list[Path]:
    return sorted(path for path in APP.rglob("*.py") if place(path)[0] not in OUTSIDE)


@pytest.mark.parametrize("source", sources(), ids=lambda path: "/".join(place(path)))
def test_it_only_imports_downwards(source: Path) -> None:
    package = place(source)[0]
    wrong = [
        ".".join(target)
        for target in imports_of(source)
        if target[0] in {"tests", "osmosis_web"}
        or (target[0] != package and level(target[0]) >= level(package))
    ]
    assert wrong == []


@pytest.mark.parametrize("source", sorted((APP / "views").glob("*.py")), ids=lambda path: path.stem)
def test_it_keeps_pages_apart(source: Path) -> None:
    others = [
        target[1]
        for target in imports_of(source)
        if target[0] == "views" and len(target) > 1 and target[1] not in SHARED_BY_VIEWS
    ]
    assert source.stem == "urls" or others == []


def test_it_keeps_files_short() -> None:
    folders = [APP, ROOT / "osmosis_web", ROOT / "tests"]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    lengths = {str(path): len(path.read_text().splitlines()) for path in files}
    too_long = [path for path, length in lengths.items() if length > 300]
    assert [path for path in too_long if "migrations" not in path] == []
