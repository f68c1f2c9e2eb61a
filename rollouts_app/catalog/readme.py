"""The first sentence of a README, as people mean it: no heading, no badge, no mark."""

import html
import re
from collections.abc import Iterator

from rollouts_app.catalog.limits import LONGEST_PARAGRAPH, SEARCHED_FOR_A_SENTENCE
from rollouts_app.catalog.text import printable

FENCE = re.compile(r"\s{0,3}(```|~~~)")
HEADING = re.compile(r"\s{0,3}#{1,6}(\s|$)|\s*<h[1-6][\s>]", re.IGNORECASE)
UNDERLINE = re.compile(r"\s{0,3}([=\-~^\"'`*+#_:.])\1+\s*$")
# Quotations, tables, directives of reStructuredText, lists, rules, indented code.
NO_PROSE = re.compile(r"\s{0,3}(>|\||\.\. |:\w+:|[-*+]\s|\d{1,9}[.)]\s|([-*_]\s*){3,}$)| {4}|\t")
IMAGE = re.compile(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])")
LINK = re.compile(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?")
RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{1,2}")
TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[a-z]+:[^<>\s]*>")
CODE = re.compile(r"`+([^`]*)`+")
EMPHASIS = re.compile(r"(?<!\w)([*_]{1,3})(?=\S)([^*_]*[^*_\s])\1(?!\w)")
ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|~])")
SENTENCE = re.compile(r"[.!?][\"')\]]*(?=\s+[^\sa-z])|[\u3002\uff01\uff1f]")


def first_sentence(readme: str) -> str:
    """The first sentence of the first paragraph of prose in Markdown, reStructuredText or text."""
    lines = _without_comments(readme[:SEARCHED_FOR_A_SENTENCE]).splitlines()
    for block in _blocks(lines[_front_matter(lines) :]):
        if NO_PROSE.match(block[0]):
            continue
        prose = _plain(" ".join(block)[:LONGEST_PARAGRAPH])
        if any(letter.isalnum() for letter in prose):
            end = SENTENCE.search(prose)
            return prose[: end.end()] if end else prose
    return ""


def _without_comments(text: str) -> str:
    """Without HTML comments; what follows one that never ends is lost."""
    kept = []
    while text:
        before, _, rest = text.partition("<!--")
        kept.append(before)
        text = rest.partition("-->")[2]
    return "".join(kept)


def _front_matter(lines: list[str]) -> int:
    """How many lines the YAML at the top takes that some tools put there."""
    if lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], start=2):
            if line.rstrip() == "---":
                return number
    return 0


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """The runs of lines between blank ones; headings and fenced code stand in none of them."""
    block: list[str] = []
    fence = ""
    for line in lines:
        mark = FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and UNDERLINE.match(line):
            # What stands above it was a heading.
            block = []
        elif not fence and line.strip() and not HEADING.match(line):
            block.append(line)
            continue
        if block:
            yield block
            block = []
    if block:
        yield block


def _plain(text: str) -> str:
    """A paragraph without its marks, on one line."""
    text = IMAGE.sub("", text)
    text = LINK.sub(r"\1", text)
    text = RST_LINK.sub(r"\1", text)
    text = CODE.sub(r"\1", text)
    text = TAG.sub("", text)
    text = EMPHASIS.sub(r"\2", text)
    text = ESCAPE.sub(r"\1", text)
    return printable(html.unescape(text))
