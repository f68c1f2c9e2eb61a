"""Whether a page can be used by everybody, as far as a program can tell."""

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What can differ between light and dark.
CONTRAST = {"runOnly": ["color-contrast"]}
SCHEMES: tuple[tuple[Literal["light", "dark"], dict[str, Any] | None], ...] = (
    ("light", None),
    ("dark", CONTRAST),
)


def has_no_barriers(page: Page) -> None:
    """axe finds nothing, in the light and in the dark."""
    page.mouse.move(0, 0)
    for scheme, options in SCHEMES:
        # Without motion, so that no colour is measured on its way to another.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        results = Axe().run(page, options=options)
        assert results.violations_count == 0, results.generate_report()
    page.emulate_media(color_scheme="light")
