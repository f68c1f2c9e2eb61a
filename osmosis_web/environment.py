"""Readers for the environment. `settings.py` is their only user."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def env(name: str, default: str | None = None) -> str:
    """The variable's text; a missing one without default refuses to start, naming the variable."""
    value = os.environ.get(name, "")
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"{name} is not set. docs/configuration.md says what it is for.")
    return default


def env_int(name: str, default: int) -> int:
    """The variable as a whole number."""
    text = env(name, str(default))
    try:
        return int(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {text!r}.") from error


def env_secret(name: str, default: str | None = None) -> str:
    """The variable's text, or the contents of the file that `NAME_FILE` names."""
    path = os.environ.get(f"{name}_FILE", "")
    if not path:
        return env(name, default)
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        reason = f"{name}_FILE names {path}, which cannot be read: {error.strerror}."
        raise ImproperlyConfigured(reason) from error
