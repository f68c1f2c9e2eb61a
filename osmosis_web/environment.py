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


def env_choice(name: str, default: str, *allowed: str) -> str:
    """The variable's text, which must be one of those allowed."""
    text = env(name, default)
    if text not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {text!r}.")
    return text


def env_all_or_none(values: dict[str, str]) -> None:
    """Refuse to start with a part of what only works as a whole, naming what is missing."""
    missing = [name for name, value in values.items() if not value]
    if missing and len(missing) < len(values):
        given = ", ".join(name for name in values if name not in missing)
        raise ImproperlyConfigured(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set, but {given} "
            f"{'is' if len(values) - len(missing) == 1 else 'are'}. Set all of them to use an App "
            "that exists, or none to have one made at /setup (docs/configuration.md)."
        )
