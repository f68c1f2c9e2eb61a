"""TOML of others: parsed within bounds, and with a place for what is wrong."""

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from rollouts_app.catalog.limits import LARGEST_TOML, MOST_DOTS_A_KEY
from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.text import printable

# A key stands on one line, between two of these.
AROUND_KEYS = re.compile(r"[\n,=\[\]{}#]")
PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Document:
    """A TOML file: its values (none when it cannot be read), its text, and what is wrong."""

    path: str
    values: dict[str, Any]
    text: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def is_readable(self) -> bool:
        """Whether the values are those of the file."""
        return not self.problems

    def line_of(self, table: str, key: str = "") -> int | None:
        """Where a table, or a key in it, is written in the usual way: [table], then key = …"""
        inside = False
        for number, line in enumerate(self.text.splitlines(), start=1):
            if line.lstrip().startswith("["):
                inside = line.split("#")[0].strip() == f"[{table}]"
                if inside and not key:
                    return number
            elif inside and key and re.match(rf"\s*['\"]?{re.escape(key)}['\"]?\s*[=.]", line):
                return number
        return None


def read_toml(path: str, content: bytes | None) -> Document:
    """Parse a file; None stands for one that was too large to be fetched."""
    if content is None or len(content) > LARGEST_TOML:
        words = f"is too large to be read: files of up to {LARGEST_TOML:,} bytes are"
        return _broken(path, "file-too-large", words, None, "Make it smaller")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return _broken(path, "file-not-utf8", "is not UTF-8", line, "Save it as UTF-8")
    if max(piece.count(".") for piece in AROUND_KEYS.split(text)) > MOST_DOTS_A_KEY:
        return _too_deep(path)
    try:
        return Document(path, tomllib.loads(text), text)
    except RecursionError:
        return _too_deep(path)
    except ValueError as error:
        return _invalid(path, text, str(error))


def _too_deep(path: str) -> Document:
    return _broken(
        path, "toml-too-deep", "is nested too deeply to be read", None, "Write it with fewer levels"
    )


def _invalid(path: str, text: str, words: str) -> Document:
    if "int_max_str_digits" in words:
        words = "A number has too many digits"
    place = PLACE.search(words)
    line = None
    if place:
        line = int(place["line"] or text.count("\n") + 1)
        words = words[: place.start()]
    sentence = f"is not valid TOML: {printable(words)[:200]}"
    return _broken(path, "toml-invalid", sentence, line, "Correct it")


def _broken(path: str, id: str, words: str, line: int | None, remedy: str) -> Document:
    place = f" at line {line}" if line else ""
    sentence = f"{printable(path)} {words}{place}."
    problem = Problem(id, "error", sentence, f"{remedy} and push again.", path, line)
    return Document(path, {}, problems=(problem,))
