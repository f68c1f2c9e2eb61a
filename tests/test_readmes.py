"""READMEs rendered: what a reader expects, and nothing that a stranger could do with it."""

import time

import pytest

from rollouts_app.catalog.limits import LONGEST_README
from rollouts_app.readmes import render_readme
from tests.pages import Page

PAGE = "https://github.test/acme/agents/blob/0123abc/"


def html(text: str) -> str:
    return str(render_readme(text, "rollouts/maths", lambda path: PAGE + path))


MARKDOWN = """# Maths

Some *text*, `code`, ~~old~~.

| a | b |
|---|--:|
| 1 | 2 |

- one
- two

```python
x = 1 < 2
```
"""


def test_it_renders_markdown() -> None:
    page = Page(f"<html>{html(MARKDOWN)}</html>")
    assert page.text(".//h3") == "Maths"
    assert page.texts(".//em") == ["text"]
    assert page.texts(".//td") == ["1", "2"]
    assert page.texts(".//li") == ["one", "two"]
    assert page.text(".//pre/code") == "x = 1 < 2"


@pytest.mark.parametrize(
    ("target", "href"),
    [
        ("main.py", f"{PAGE}rollouts/maths/main.py"),
        ("./img.png", f"{PAGE}rollouts/maths/img.png"),
        ("../other/README.md#use", f"{PAGE}rollouts/other/README.md#use"),
        ("/configs/eval/x.toml", f"{PAGE}configs/eval/x.toml"),
        ("a%20b.md", f"{PAGE}rollouts/maths/a b.md"),
        ("https://example.org/x?y=1", "https://example.org/x?y=1"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("//example.org/x", "//example.org/x"),
    ],
)
def test_links_lead_where_they_do_on_github(target: str, href: str) -> None:
    for text in (f"[x]({target})", f'<a href="{target}">x</a>', f"![x]({target})"):
        page = Page(f"<html>{html(text)}</html>")
        assert [link.get("href") for link in page.all(".//a")] == [href]
        assert page.text(".//a") == "x"


@pytest.mark.parametrize(
    "target",
    ["../../../etc/passwd", "#here", "", "javascript:alert(1)", "JaVaScRiPt:x", "data:x,y"],
)
def test_other_links_lead_nowhere(target: str) -> None:
    for text in (f"[x]({target})", f'<a href="{target}">x</a>', f"![x]({target})"):
        assert 'href="' not in html(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)" onclick="x()">x</a>',
        "<svg onload=alert(1)>",
        '<iframe src="//evil.example"></iframe>',
        "<style>*{display:none}</style>",
        '<form action="//evil.example"><input name=q><button>x</button></form>',
        '<div style="position:fixed" class="x" id="content">x</div>',
        "[x](javascript&colon;alert(1))",
        "[x]: javascript:alert(1)\n\n[x]",
        '<a href="java\nscript:alert(1)">x</a>',
        "<a href='vbscript:x'>x</a>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        '![x](x" onerror="alert(1))',
        '<button hx-get="/acme/leave" hx-trigger="load">x</button>',
        "<!-- --!><img src=x onerror=alert(1)> -->",
    ],
)
def test_hostile_ones_are_inert(text: str) -> None:
    """U13"""
    page = Page(f"<html>{html(text)}</html>")
    for element in page.all(".//*"):
        assert element.tag not in {"script", "img", "svg", "iframe", "style", "form", "input"}
        assert {*element.attrib} <= {"href", "title", "rel", "align", "start"}
        assert not element.get("href", "").lower().lstrip().startswith(("javascript", "vbscript"))


@pytest.mark.parametrize(
    "piece",
    [
        "> ",
        "[",
        "*a ",
        "- ",
        "`",
        "<",
        "![",
        "a](",
        "<div>",
        "_a_ ",
        "a\n- b\n",
        "[a](b)",
        "|a|b|\n|-|-|\n",
    ],
)
def test_long_ones_take_little_time(piece: str) -> None:
    begun = time.thread_time()
    html((piece * LONGEST_README)[:LONGEST_README])
    assert time.thread_time() - begun < 3
