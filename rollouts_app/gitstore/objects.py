"""What git's objects say: commits and trees, parsed from their raw bytes. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal, NamedTuple

Kind = Literal["directory", "file", "symlink", "submodule"]

ID_BYTES = 20
RECORD = re.compile(rb"[0-7]+ [^\0]+\0.{20}", re.DOTALL)
PERSON = re.compile(r"(?P<name>[^<]*)<(?P<email>[^>]*)>?(?P<rest>.*)")
MOMENT = re.compile(
    r" *(?P<seconds>-?\d{1,15})(?: (?P<sign>[+-])(?P<hours>\d\d)(?P<minutes>\d\d))?"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FILE_TYPE = 0o170000
KINDS: dict[int, Kind] = {0o040000: "directory", 0o120000: "symlink", 0o160000: "submodule"}
LONGEST_LINE = 1_000  # characters of a name, an address or a subject; more serves nobody
MOST_SHARED = 200_000


class Entry(NamedTuple):
    """One line of a directory. Bytes of a name that are not UTF-8 are surrogate escapes."""

    name: str
    mode: int
    id: str
    kind: Kind


@dataclass(frozen=True)
class CommitFacts:
    """A commit: its tree, who wrote it and when, and the first line of its message.

    The texts are as in the commit, control characters included, undecodable bytes replaced. A date
    that is missing or out of range reads as 1970-01-01 UTC.
    """

    tree: str
    author_name: str
    author_email: str
    authored_at: datetime
    committed_at: datetime
    subject: str


class TreeReader:
    """Reads trees, sharing the entries between them: those of one repository hardly differ.

    So 5,000 trees of 200 entries cost little more than one; the share is dropped when it grows.
    """

    def __init__(self) -> None:
        self._shared = _SharedEntries()

    def read(self, raw: bytes) -> list[Entry]:
        """The entries in git's order. ValueError when the bytes are no tree."""
        records = RECORD.findall(raw)
        if sum(map(len, records)) != len(raw):
            raise ValueError("not a tree")
        if len(self._shared) > MOST_SHARED:
            self._shared.clear()
        return [*map(self._shared.__getitem__, records)]


class _SharedEntries(dict[bytes, Entry]):
    def __missing__(self, record: bytes) -> Entry:
        mode_and_name, id = record[: -ID_BYTES - 1], record[-ID_BYTES:]
        mode_digits, _, name = mode_and_name.partition(b" ")
        mode = int(mode_digits, 8)
        kind = KINDS.get(mode & FILE_TYPE, "file")
        entry = Entry(name.decode(errors="surrogateescape"), mode, id.hex(), kind)
        self[record] = entry
        return entry


def read_commit(raw: bytes) -> CommitFacts:
    """The facts of a commit object. ValueError when it has no tree, so is no commit."""
    head, _, message = raw.partition(b"\n\n")
    fields: dict[str, bytes] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key.decode(errors="replace"), value)
    if "tree" not in fields:
        raise ValueError("not a commit")
    encoding = fields.get("encoding", b"utf-8").decode(errors="replace")
    author_name, author_email, authored_at = _person(_text(fields.get("author", b""), encoding))
    _name, _email, committed_at = _person(_text(fields.get("committer", b""), encoding))
    return CommitFacts(
        tree=fields["tree"].decode(errors="replace"),
        author_name=author_name,
        author_email=author_email,
        authored_at=authored_at,
        committed_at=committed_at,
        subject=_text(message.lstrip(b"\n").split(b"\n", 1)[0], encoding).strip()[:LONGEST_LINE],
    )


def _text(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding, errors="replace")
    except (LookupError, ValueError):
        return raw.decode(errors="replace")


def _person(line: str) -> tuple[str, str, datetime]:
    """ "Name <address> seconds zone" → the three; what is not there is empty, or the epoch."""
    match = PERSON.match(line)
    if match is None:
        return line.strip()[:LONGEST_LINE], "", EPOCH
    name, email = match["name"].strip()[:LONGEST_LINE], match["email"].strip()[:LONGEST_LINE]
    return name, email, _moment(match["rest"])


def _moment(text: str) -> datetime:
    match = MOMENT.fullmatch(text.rstrip())
    if match is None:
        return EPOCH
    offset = timedelta(hours=int(match["hours"] or 0), minutes=int(match["minutes"] or 0))
    try:
        zone = timezone(-offset if match["sign"] == "-" else offset)
        return datetime.fromtimestamp(int(match["seconds"]), zone)
    except (ValueError, OverflowError, OSError):
        return EPOCH
