"""What the frame around every page shows. No queries here: this runs for every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

THEMES = ("system", "light", "dark")


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context for base.html: version, theme from its cookie, the repository host."""
    theme = request.COOKIES.get("theme", "system")
    return {
        "version": settings.VERSION,
        "theme": theme if theme in THEMES else "system",
        "github_url": settings.GITHUB_URL,
        "public_url": settings.PUBLIC_URL,
    }
