"""Only what GitHub signed with our secret is genuine."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts_app.github import is_genuine

# The example of GitHub's page about validating deliveries.
SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
HEADER = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_it_knows_github_s_example() -> None:
    assert is_genuine(BODY, HEADER, SECRET)


@pytest.mark.parametrize(
    ("body", "header", "secret"),
    [
        (BODY + b"\n", HEADER, SECRET),
        (b"", HEADER, SECRET),
        (BODY, HEADER, "another"),
        (BODY, HEADER[:-1], SECRET),
        (BODY, HEADER + "0", SECRET),
        (BODY, HEADER.upper(), SECRET),
        (BODY, HEADER.removeprefix("sha256="), SECRET),
        (BODY, HEADER.replace("sha256", "sha1"), SECRET),
        (BODY, " " + HEADER, SECRET),
        (BODY, "sha256=", SECRET),
        (BODY, "sha256=é\udce9", SECRET),
        (BODY, "", SECRET),
        (BODY, None, SECRET),
        (BODY, HEADER, ""),
        (BODY, HEADER, None),
    ],
)
def test_nothing_else_is_genuine(body: bytes, header: str | None, secret: str | None) -> None:
    assert not is_genuine(body, header, secret)


def test_without_a_secret_not_even_its_own_signature_is_genuine() -> None:
    header = "sha256=" + hmac.new(b"", BODY, hashlib.sha256).hexdigest()
    assert not is_genuine(BODY, header, "")


@given(st.binary(), st.text())
def test_any_header_is_answered(body: bytes, header: str) -> None:
    assert not is_genuine(body, header, SECRET)
