"""One line of the doctor's: what was looked at, how it is, and what to do."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """`state` is good, warning or bad; `fix` is empty where nothing is to be done."""

    name: str
    state: str
    text: str
    fix: str = ""


def good(name: str, text: str) -> Line:
    return Line(name, "good", text)


def warning(name: str, text: str, fix: str) -> Line:
    return Line(name, "warning", text, fix)


def bad(name: str, text: str, fix: str) -> Line:
    return Line(name, "bad", text, fix)
