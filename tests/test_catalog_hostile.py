"""Whatever files hold: the catalog reads them, in little time, and the result can be stored."""

import json
import time
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from rollouts_app.catalog import printable, read_config, read_rollout, storable
from rollouts_app.catalog.limits import LARGEST_TOML
from rollouts_app.catalog.text import INVISIBLE

CONFIG = "configs/eval/maths.toml"


def assert_storable(value: object) -> None:
    """PostgreSQL takes it: as JSON, without NUL, in UTF-8."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    text.encode()
    assert "\\u0000" not in text


SCRAPS = (
    *("[project]\n", "[experiment]\n", "name", "description", "license", "rollout", "=", "."),
    *("{", "}", "[", "]", ",", "\n", "\\u0000", "\\U000FFFFF", "1979-05-27T07:32:00Z", "0xff"),
    *("07:32:00", "inf", "nan", "-", "9" * 30, "true", "#", " ", "ü", "text", '"', "'", '"""'),
)
ANY_TOML = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(SCRAPS), max_size=40).map(lambda scraps: "".join(scraps).encode()),
)


@given(ANY_TOML, st.one_of(st.none(), st.binary(max_size=300)))
def test_any_rollout_is_read_and_can_be_stored(toml: bytes, readme: bytes | None) -> None:
    contents = read_rollout("caf\\xe9", {"pyproject.toml": toml, "README.md": readme})
    assert_storable(asdict(contents))
    assert "\n" not in contents.description
    assert len(contents.description) <= 200


@given(ANY_TOML)
def test_any_config_is_read_and_can_be_stored(toml: bytes) -> None:
    assert_storable(asdict(read_config(CONFIG, toml)))


@given(st.text(), st.binary())
def test_any_text_can_be_stored(text: str, name: bytes) -> None:
    for any_text in (text, name.decode(errors="surrogateescape")):
        assert_storable(storable(any_text))
        assert_storable(printable(any_text))
        assert not INVISIBLE.search(printable(any_text))
    assert storable(storable(text)) == storable(text)


def test_printable_shows_what_hides() -> None:
    assert printable(" a\tb\n\x1b[31m\u202ec\0 ") == "a b \ufffd[31m\ufffdc\ufffd"
    assert storable("caf\udce9 \x1b\n") == "caf\\xe9 \x1b\n"


def test_hostile_sizes_cost_little_time() -> None:
    started = time.thread_time()
    for text in (
        "\n".join(f"a{number}{'.a' * 199} = 1" for number in range(240)),
        "\n".join(f"[x{number}.a.b.c.d]" for number in range(6_000)),
        "a = " + "{a = " * 900,
        "a = [" + "{b.c.d = 1}," * 8_000 + "]",
        'a = """' + "\\\n" * 49_000,
        "a = 0x" + "f" * 99_000,
    ):
        assert len(text) < LARGEST_TOML
        read_rollout("maths", {"pyproject.toml": text.encode()})
        read_config(CONFIG, text.encode())
    for text in ("[" * 100_000, "<" * 100_000, "![" * 50_000, "<!--" * 50_000, "`*_" * 50_000):
        read_rollout("maths", {"README.md": text.encode()})
    assert time.thread_time() - started < 10
