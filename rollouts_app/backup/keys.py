"""Everything that is encrypted, encrypted anew with the newest of ENCRYPTION_KEYS."""

from collections.abc import Iterator

from django.apps import apps
from django.db import models

from rollouts_app import vault

# How every Fernet token begins: its version, and the zeros of a time in this century.
# https://github.com/fernet/spec/blob/master/Spec.md
TOKEN_START = "gAAAAA"  # noqa: S105


def rotate() -> tuple[int, list[str]]:
    """Go through all texts of all our tables, so that none can be forgotten.

    Returns how many were encrypted anew, and where what looks encrypted could not be read.
    """
    renewed, unreadable = 0, []
    for model, field in _text_fields():
        holders = model._default_manager.filter(**{f"{field}__startswith": TOKEN_START})
        for pk, old in holders.values_list("pk", field):
            new = vault.renew(old)
            if new is None:
                unreadable.append(f"{model._meta.db_table}.{field} of row {pk}")
            else:
                # Whatever was stored meanwhile is newer than what we read.
                same = model._default_manager.filter(pk=pk, **{field: old})
                renewed += same.update(**{field: new})
    return renewed, unreadable


def _text_fields() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_app_config("rollouts_app").get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.TextField | models.CharField):
                yield model, field.attname
