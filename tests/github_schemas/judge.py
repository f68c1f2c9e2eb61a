"""Judges JSON by GitHub's own descriptions, which lie beside this file as JSON Schema.

GitHub's schemas allow more keys than they name. The emulator is held to those named, so that
nothing is ever built on what GitHub does not send: that is `closed`.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

HERE = Path(__file__).resolve().parent
ERROR = ("schemas", "basic-error")
FORMATS = FormatChecker(formats=())


class Undescribed(LookupError):
    """GitHub's description says nothing of such an answer or payload."""


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(value: object) -> bool:
    """ISO 8601 with a zone. Raises ValueError for days and hours there are not."""
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


@FORMATS.checks("uri", raises=ValueError)
def is_address(value: object) -> bool:
    """A whole address, with scheme and host."""
    return not isinstance(value, str) or all(urlsplit(value)[:2])


@FORMATS.checks("email")
def is_email(value: object) -> bool:
    """Something on both sides of the sign."""
    return not isinstance(value, str) or re.fullmatch(r"[^@\s]+@[^@\s]+", value) is not None


def faults_of_answer(
    address: str, method: str, status: int, body: Any, *, any_error: bool = False
) -> list[str]:
    """What is wrong with an answer of the API; `address` as the description writes it.

    Raises Undescribed, unless `any_error` lets an error that the address does not list count as one
    of those GitHub may answer anywhere.
    """
    described = descriptions("rest")["answers"].get(address, {}).get(method.lower())
    if described is None:
        raise Undescribed(f"{method} {address}")
    if str(status) not in described:
        if not any_error:
            raise Undescribed(f"{method} {address} → {status}")
        return faults("rest", ERROR, body, closed=True)
    if described[str(status)] is None:
        return [] if body is None else [f"$: a body where {status} has none"]
    place = ("answers", address, method.lower(), str(status))
    return faults("rest", place, body, closed=True)


def faults_of_payload(event: str, payload: Any, *, closed: bool = True) -> list[str]:
    """What is wrong with a webhook's payload. Raises Undescribed."""
    name = kind_of(event, payload)
    if name not in descriptions("webhooks")["payloads"]:
        raise Undescribed(name)
    return faults("webhooks", ("payloads", name), payload, closed=closed)


def kind_of(event: str, payload: Any) -> str:
    """Event and action, as the description writes them: `installation-repositories-added`."""
    action = payload.get("action") if isinstance(payload, dict) else None
    return "-".join(filter(None, [event, action])).replace("_", "-")


def faults(source: str, place: Sequence[str], body: Any, *, closed: bool) -> list[str]:
    """One line for each fault: where, and what."""
    errors = validator(source, tuple(place), closed=closed).iter_errors(body)
    return sorted(f"{error.json_path}: {error.message[:300]}" for error in errors)


@cache
def validator(source: str, place: Sequence[str], *, closed: bool) -> Draft202012Validator:
    """What judges by the schema at a place of a file."""
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in place)
    schema = {"$ref": f"urn:{source}:{'closed' if closed else 'open'}#/{pointer}"}
    return Draft202012Validator(schema, registry=registry(source), format_checker=FORMATS)


@cache
def descriptions(source: str) -> Any:
    """The file as `vendor` wrote it."""
    return json.loads((HERE / f"{source}.json").read_text())


@cache
def registry(source: str) -> Registry[Any]:
    """The file's schemas, as GitHub has them and closed."""
    whole = descriptions(source)
    return Registry().with_resources(
        (f"urn:{source}:{name}", DRAFT202012.create_resource(contents))
        for name, contents in (("open", whole), ("closed", close(source, whole)))
    )


def close(source: str, schema: Any, *, names: bool = False, part: bool = False) -> Any:
    """The schema with no more keys than it names. A `part` of an `allOf` is closed as a whole."""
    if isinstance(schema, list):
        return [close(source, entry, part=part) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {name: close(source, entry) for name, entry in schema.items()}
    if part and "$ref" in schema:
        # Closed by itself it would refuse what the other parts name.
        return {"$ref": f"urn:{source}:open{schema['$ref']}"}
    closed = {
        word: close(source, entry, names=word == "properties", part=word == "allOf")
        for word, entry in schema.items()
    }
    is_object = "properties" in schema or "allOf" in schema
    if is_object and not part and "additionalProperties" not in schema:
        closed["unevaluatedProperties"] = False
    return closed
