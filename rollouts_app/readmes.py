"""READMEs of others as HTML that can do nothing: Markdown rendered, then cleaned. Pure.

Relative links lead to GitHub at the commit. Images become links: those of private repositories
cannot load here, and those of others would tell them who reads.
"""

from collections.abc import Callable
from html import escape
from posixpath import normpath
from typing import Any
from urllib.parse import unquote, urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Links that lead somewhere a browser may go by itself.
SCHEMES = {"http", "https", "mailto"}
TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "kbd", "li", "ol", "p", "pre", "q", "s"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}}
# Headings of a README stand below those of the page.
LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
DEEPEST = 20


def render_readme(text: str, folder: str, page_of: Callable[[str], str]) -> SafeString:
    """The Markdown text as HTML. `folder` is its directory in the repository; `page_of` gives the
    page of a path of the repository, at the commit.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)

    def link(tag: str, attribute: str, value: str) -> str | None:
        return _target(value, folder, page_of) if attribute == "href" else value

    html = nh3.clean(
        parser.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=link,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(html)  # noqa: S308


def _image(renderer: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    words = renderer.renderInlineAsText(token.children or [], options, env).strip()
    return f'<a href="{escape(str(token.attrs.get("src", "")))}">{escape(words or "Image")}</a>'


def _heading(renderer: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    slash = "/" if token.nesting < 0 else ""
    return f"<{slash}{LOWER[token.tag]}>"


def _target(address: str, folder: str, page_of: Callable[[str], str]) -> str | None:
    """Where a link leads, seen from the README; None where it leads nowhere."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return None
    if parts.scheme or parts.netloc:
        return address if parts.scheme in SCHEMES or not parts.scheme else None
    if not parts.path:
        return None
    path = unquote(parts.path)
    inside = path.lstrip("/") if path.startswith("/") else f"{folder}/{path}"
    inside = normpath(inside)
    if inside.startswith("..") or "\0" in inside:
        return None
    page = page_of("" if inside == "." else inside)
    return f"{page}#{parts.fragment}" if parts.fragment else page
