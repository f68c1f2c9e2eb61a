"""Reading our pages as a browser does: elements, texts, links and forms."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from django.http import HttpResponse

VOID = {"input", "link", "meta", "hr", "br", "img"}
BLOCKS = {"div", "p", "li", "dt", "dd", "td", "th", "tr", "h1", "h2", "h3", "br", "section", "form"}


class Page:
    """A page, or a part of one, whose elements are well nested.

    Paths are those of ElementTree: `.//h1`, `.//form[@method='post']`, `.//*[@id='history']`.
    """

    def __init__(self, html: str) -> None:
        self.root = _Builder(html).root

    def all(self, path: str) -> list[Element]:
        """The elements at a path."""
        return self.root.findall(path)

    def texts(self, path: str) -> list[str]:
        """Their texts, with white space as it is shown."""
        return [text_of(element) for element in self.all(path)]

    def text(self, path: str = ".") -> str:
        """The text of the only element at a path."""
        [text] = self.texts(path) if path != "." else [text_of(self.root)]
        return text

    def one(self, path: str) -> Element:
        """The only element at a path."""
        [element] = self.all(path)
        return element

    def links(self) -> dict[str, str]:
        """The text of each link → where it leads."""
        return {text_of(link): link.get("href", "") for link in self.all(".//a")}

    def facts(self, path: str = ".//dl") -> dict[str, str]:
        """A list of facts: what → how it is."""
        terms, values = self.texts(f"{path}/dt"), self.texts(f"{path}/dd")
        return dict(zip(terms, values, strict=True))

    def actions(self) -> list[str]:
        """Where the forms that change something lead, outside the menus."""
        return [
            form.get("action", "")
            for form in self.one(".//main").iter("form")
            if form.get("method") == "post"
        ]


def page_of(response: HttpResponse | Any, status: int = 200) -> Page:
    """What was answered, which must have that status."""
    assert response.status_code == status
    return Page(response.content.decode())


def text_of(element: Element) -> str:
    """The text below an element, with white space as it is shown."""
    return " ".join("".join(_pieces(element)).split())


def _pieces(element: Element) -> Iterator[str]:
    space = " " if element.tag in BLOCKS else ""
    yield space
    yield element.text or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
    yield space


class _Builder(HTMLParser):
    """Builds the tree. What is closed wrongly, or left open, is an AssertionError."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("page")
        self._open = [self.root]
        self.feed(html)
        self.close()
        assert self._open == [self.root], f"left open: {[each.tag for each in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = SubElement(self._open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        parent = self._open[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + data
        else:
            parent.text = (parent.text or "") + data
