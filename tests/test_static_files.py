"""The style sheets, scripts and vendored files agree with the templates that use them."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "static"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SHEETS = {path.name: path.read_text() for path in sorted(STATIC.glob("css/*.css"))}


def test_it_defines_every_custom_property_that_is_used_and_no_other() -> None:
    text = "".join(SHEETS.values())
    used = set(re.findall(r"var\((--[\w-]+)", text))
    assert set(re.findall(r"(--[\w-]+):", text)) - {"--panel-bg"} == used - {"--panel-bg"}


def test_it_vendors_every_icon_that_is_used_and_no_other() -> None:
    text = "".join(path.read_text() for path in TEMPLATES)
    by_include = re.findall(r'icon\.html" with name="([a-z-]+)"', text)
    by_hand = re.findall(r"\{\{ octicons \}\}#([a-z-]+)", text)
    sprite = (STATIC / "vendor/octicons.svg").read_text()
    assert set(re.findall(r'<symbol id="([a-z-]+)"', sprite)) == {*by_include, *by_hand}


def test_it_ships_the_htmx_that_the_readme_names() -> None:
    readme = (STATIC / "vendor/README.md").read_text()
    shipped = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in STATIC.glob("vendor/htmx-*.js")
    }
    assert dict(re.findall(r"`(htmx-[\w.]+\.js)` itself: `([0-9a-f]{64})`", readme)) == shipped


def test_it_needs_no_more_than_sixty_lines_of_script() -> None:
    lines = [line for path in STATIC.glob("js/*.js") for line in path.read_text().splitlines()]
    assert 0 < len(lines) <= 60


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_it_has_nothing_inline_that_the_content_policy_forbids(template: Path) -> None:
    forbidden = r"<style|\bstyle=|<script(?![^>]*\bsrc=)|\son\w+=|\bhx-on|javascript:|hx-vals=.js"
    assert re.findall(forbidden, template.read_text()) == []
