"""The sentence that stands for a rollout whose project describes nothing."""

import pytest

from rollouts_app.catalog.readme import first_sentence


@pytest.mark.parametrize(
    ("readme", "sentence"),
    [
        ("", ""),
        ("# Title only\n", ""),
        ("Plain text without an end", "Plain text without an end"),
        ("# Title\n\nFirst. Second.", "First."),
        ("# Title\nRight below it. More.", "Right below it."),
        ("Title\n=====\n\nText here! More.", "Text here!"),
        ("=====\nTitle\n=====\n\nText here? More.", "Text here?"),
        ("Title\n---\nText.", "Text."),
        ("One line\nand the next. More.", "One line and the next."),
        ("Version 1.2 of e.g. this is out. More.", "Version 1.2 of e.g. this is out."),
        ('He said "yes." And left.', 'He said "yes."'),
        ("\u4e58\u6cd5\u3002\u66f4\u591a\u3002", "\u4e58\u6cd5\u3002"),
        ("# T\n\n[![CI](https://x/b.svg)](https://x) ![a](b)\n\nText.", "Text."),
        ("[![CI](b.svg)](x)\n[![PyPI](b.svg)][pypi] Text after badges.", "Text after badges."),
        ("![logo][ref]\n\nText.", "Text."),
        ("<h1 align='center'>Title</h1>\n\n<p>Within <b>tags</b>.</p>", "Within tags."),
        ("<img src='x.png'>\n\nText.", "Text."),
        ("<!-- a comment\n\nof lines -->\nText.", "Text."),
        ("<!-- never ends\n\nText.", ""),
        ("---\ntitle: x\n---\n\nText.", "Text."),
        ("```\ncode. Here.\n```\n\nText.", "Text."),
        ("~~~\n```\ncode\n~~~\nText.", "Text."),
        ("    code. Here.\n\nText.", "Text."),
        ("> A quotation.\n\nText.", "Text."),
        ("- a list\n  goes on.\n\nText.", "Text."),
        ("1. a list\n\nText.", "Text."),
        ("| a | b |\n|---|---|\n\nText.", "Text."),
        ("***\n\nText.", "Text."),
        (".. image:: x.png\n   :alt: y\n\nText.", "Text."),
        ("See [the docs](https://x/y), [more][1] and [this].", "See the docs, more and this."),
        ("See `the docs <https://x>`_ now.", "See the docs now."),
        ("**Bold**, _slanted_, ***both***.", "Bold, slanted, both."),
        ("`code`, snake_case_name and 2*3*4.", "code, snake_case_name and 2*3*4."),
        (r"2 \* 3 &lt; 7 &amp; more.", "2 * 3 < 7 & more."),
        ("A\x00b\u202ec.", "A\ufffdb\ufffdc."),
        ("\r\n# T\r\n\r\nText.\r\nMore.\r\n", "Text."),
        ("...\n\nText.", "Text."),
    ],
)  # fmt: skip
def test_it_finds_the_first_sentence(readme: str, sentence: str) -> None:
    assert first_sentence(readme) == sentence
