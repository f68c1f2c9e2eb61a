"""The raw bytes of commits and trees, and of what git says about many of them."""

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts_app.gitstore.batch import MISSING, Broken, Found, read_objects
from rollouts_app.gitstore.objects import EPOCH, TreeReader, read_commit

TREE = "a" * 40
ID = bytes(range(20))


def id_of(content: bytes) -> str:
    """What git calls a blob."""
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def commit(
    author: str = "Ada <ada@x> 1700000000 +0130", more: str = "", message: str = "M"
) -> bytes:
    return f"tree {TREE}\nauthor {author}\ncommitter {author}\n{more}\n{message}".encode()


def test_it_reads_a_commit() -> None:
    raw = (
        f"tree {TREE}\nparent {'b' * 40}\nauthor Ada Lovelace <ada@acme.example> 1700000000 +0130\n"
        "committer GitHub <noreply@github.com> 1700000060 -0800\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n author Nobody <x@y> 1 +0000\n -----END\n"
        "\n\n  Subject line \n\nBody\n"
    ).encode()
    facts = read_commit(raw)
    assert (facts.tree, facts.subject) == (TREE, "Subject line")
    assert (facts.author_name, facts.author_email) == ("Ada Lovelace", "ada@acme.example")
    zone = timezone(timedelta(hours=1, minutes=30))
    assert facts.authored_at == datetime.fromtimestamp(1700000000, zone)
    assert facts.authored_at.utcoffset() == timedelta(hours=1, minutes=30)
    assert facts.committed_at == datetime.fromtimestamp(1700000060, UTC)


@pytest.mark.parametrize(
    ("author", "name", "email", "moment"),
    [
        ("Ada <ada@x> 0 +0000", "Ada", "ada@x", EPOCH),
        ("<ada@x> 60 -0000", "", "ada@x", EPOCH + timedelta(seconds=60)),
        ("Ada <> 60", "Ada", "", EPOCH + timedelta(seconds=60)),
        ("Ada <ada@x> -60 +0000", "Ada", "ada@x", EPOCH - timedelta(seconds=60)),
        ("Ada <ada@x> 99999999999999 +0000", "Ada", "ada@x", EPOCH),
        ("Ada <ada@x> " + "9" * 30 + " +0000", "Ada", "ada@x", EPOCH),
        ("Ada <ada@x> 60 +9959", "Ada", "ada@x", EPOCH),
        ("Ada <ada@x> yesterday", "Ada", "ada@x", EPOCH),
        ("Ada", "Ada", "", EPOCH),
        ("", "", "", EPOCH),
    ],
)
def test_it_takes_odd_signatures(author: str, name: str, email: str, moment: datetime) -> None:
    facts = read_commit(commit(author))
    assert (facts.author_name, facts.author_email, facts.authored_at) == (name, email, moment)


def test_it_takes_other_encodings() -> None:
    raw = commit(more="encoding iso-8859-1\n", message="x").replace(b"Ada", "Zoë".encode("latin-1"))
    assert read_commit(raw).author_name == "Zoë"
    assert read_commit(raw.replace(b"iso-8859-1", b"klingon")).author_name == "Zo\ufffd"


def test_a_commit_without_a_message_has_no_subject() -> None:
    assert read_commit(commit(message="")).subject == ""


def test_it_reads_a_tree() -> None:
    raw = b"100644 a b\0" + ID + b"40000 caf\xe9\0" + ID[::-1] + b"160000 m\n\0" + ID
    entries = TreeReader().read(raw)
    assert [(e.name, e.mode, e.id, e.kind) for e in entries] == [
        ("a b", 0o100644, ID.hex(), "file"),
        ("caf\udce9", 0o040000, ID[::-1].hex(), "directory"),
        ("m\n", 0o160000, ID.hex(), "submodule"),
    ]
    assert TreeReader().read(b"") == []


def test_trees_share_their_entries() -> None:
    reader = TreeReader()
    raw = b"100644 a\0" + ID
    assert reader.read(raw)[0] is reader.read(raw)[0]


@pytest.mark.parametrize("raw", [b"x", b"100644 a\0" + ID[:19], b"100644 a\0" + ID + b"rest"])
def test_it_refuses_what_is_no_tree(raw: bytes) -> None:
    with pytest.raises(ValueError, match="not a tree"):
        TreeReader().read(raw)


@given(st.binary(max_size=300))
def test_any_commit_is_read_or_refused(rest: bytes) -> None:
    facts = read_commit(b"tree " + TREE.encode() + b"\n" + rest)
    assert facts.authored_at.tzinfo is not None
    with pytest.raises(ValueError, match="not a commit"):
        read_commit(b"object " + rest)


@given(
    st.lists(st.tuples(st.sampled_from(["blob", MISSING]), st.binary(max_size=50)), max_size=10),
    st.integers(min_value=1, max_value=60),
)
def test_a_batch_reads_the_same_however_it_is_cut(
    objects: list[tuple[str, bytes]], size: int
) -> None:
    stream, expected = b"", []
    for number, (kind, content) in enumerate(objects):
        id = f"{number:040}" if kind == MISSING else id_of(content)
        if kind == MISSING:
            stream += f"{id} missing\n".encode()
            expected.append(Found(id, MISSING, 0, None))
        else:
            stream += f"{id} blob {len(content)}\n".encode() + content + b"\n"
            kept = content if len(content) <= 30 else None
            expected.append(Found(id, "blob", len(content), kept))
    chunks = iter([stream[at : at + size] for at in range(0, len(stream), size)])
    assert list(read_objects(chunks, most_bytes=30)) == expected


@pytest.mark.parametrize(
    "stream",
    [
        *(b"a blob 5\n123", b"a blob 5\n12345", b"a blob 99\n123", b"a blob", b"nonsense\n"),
        *(b"a blob x\n", b"x" * 2_000, id_of(b"1").encode() + b" blob 1\n2\n"),
        id_of(b"1").encode() + b" tree 1\n1\n",
    ],
)
def test_a_batch_that_breaks_off_is_noticed(stream: bytes) -> None:
    with pytest.raises(Broken):
        list(read_objects(iter([stream]), most_bytes=30))
