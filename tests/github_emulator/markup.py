"""HTML made of elements: text is escaped by construction, however hostile it is."""

import html
from collections.abc import Iterable


class Html(str):
    """Markup that is safe as it stands."""

    __slots__ = ()


Child = str | None | Iterable["Child"]


def text(child: Child) -> Html:
    """Children as markup: plain strings escaped, nested lists joined, None left out."""
    if child is None:
        return Html("")
    if isinstance(child, Html):
        return child
    if isinstance(child, str):
        return Html(html.escape(child))
    return Html("".join(text(part) for part in child))


def element(name: str, /, *children: Child, **attributes: str | bool | None) -> Html:
    """`<name attributes>children</name>`; `class_` is class, `_` a dash, False and None nothing."""
    rendered = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{html.escape(str(value))}"')
        for key, value in attributes.items()
        if value not in (False, None)
    )
    return Html(f"<{name}{rendered}>{text(children)}</{name}>")


def void(name: str, /, **attributes: str | bool | None) -> Html:
    """An element without content, such as `<input>`."""
    return Html(element(name, **attributes).removesuffix(f"</{name}>"))


def hidden(name: str, value: str) -> Html:
    """A form field nobody sees."""
    return void("input", type="hidden", name=name, value=value)


def button(label: Child, **attributes: str | bool | None) -> Html:
    """A button that submits its form."""
    return element("button", label, type="submit", **attributes)


def link(label: Child, address: str, **attributes: str | bool | None) -> Html:
    """A link."""
    return element("a", label, href=address, **attributes)
