"""A repository's pages of changes: one commit, and two names compared."""

from hashlib import sha256

from . import pages, pages_source, reading
from .bare import BareRepository
from .markup import Child, Html, element, link
from .web import Answer, Request, Routes, path_of

ROUTES = Routes()
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
MOST_LINES = 5000


@ROUTES.add("GET", "/{owner}/{repository}/commit/{name:rest}")
def commit(request: Request, owner: str, repository: str, name: str) -> Answer:
    """One commit: who, when, why, and what it changed."""
    record = request.world.state.repository(f"{owner}/{repository}")
    if record is None:
        return pages_source.moved_or_missing(request, owner, repository)
    bare, full_name = request.world.bare(record), request.world.state.full_name(record)
    found = bare.resolve(name)
    if found is None:
        return pages.nothing_here(request, f"There is no commit {name} in {full_name}.")
    facts = reading.commit(bare.folder, found)
    base = facts.parents[0] if facts.parents else EMPTY_TREE
    parents: list[Child] = [
        link(parent[:7], path_of(full_name, "commit", parent)) for parent in facts.parents
    ]
    return pages.show(
        request,
        f"{facts.subject} · {full_name}",
        element("h1", link(full_name, path_of(full_name)), f" · {facts.subject}"),
        element("section", element("pre", facts.message, class_="text"), class_="box"),
        element(
            "p",
            f"{facts.author.name} committed ",
            pages.moment(facts.author.date),
            class_="muted",
        ),
        element("p", "Commit ", element("code", facts.id), class_="muted"),
        element("p", "Parents: ", pages.joined(parents, ", ") if parents else "none"),
        element("p", link("Browse files", path_of(full_name, "tree", facts.id))),
        _diff(reading.diff(bare.folder, base, found)),
    )


@ROUTES.add("GET", "/{owner}/{repository}/compare/{names:rest}")
def compare(request: Request, owner: str, repository: str, names: str) -> Answer:
    """`BASE...HEAD` since they parted, `BASE..HEAD` as they are; one name: from the default."""
    record = request.world.state.repository(f"{owner}/{repository}")
    if record is None:
        return pages_source.moved_or_missing(request, owner, repository)
    bare, full_name = request.world.bare(record), request.world.state.full_name(record)
    dots = "..." if "..." in names or ".." not in names else ".."
    base_name, found, head_name = names.partition(dots)
    if not found:
        base_name, head_name = record.default_branch, names
    base, head = _resolve(bare, base_name), _resolve(bare, head_name)
    if base is None or head is None:
        missing = head_name if base else base_name
        return pages.nothing_here(request, f"There is no branch, tag or commit called {missing}.")
    start = reading.merge_base(bare.folder, base, head) or base if dots == "..." else base
    history = reading.history(bare.folder, [head, f"^{base}"], pages_source.MOST_COMMITS)
    return pages.show(
        request,
        f"Comparing {base_name}{dots}{head_name} · {full_name}",
        element("h1", link(full_name, path_of(full_name)), " · Comparing changes"),
        element("p", element("code", base_name), f" {dots} ", element("code", head_name)),
        element("h2", "1 commit" if len(history) == 1 else f"{len(history)} commits"),
        pages_source.commit_list(full_name, history) if history else None,
        _diff(reading.diff(bare.folder, start, head)),
    )


def _resolve(bare: BareRepository, name: str) -> str | None:
    return bare.resolve(f"refs/heads/{name}") or bare.resolve(name)


def _diff(text: str) -> Html:
    """A unified diff, one box a file."""
    if not text:
        return element("p", "Nothing differs.", class_="muted")
    files = text.split("\ndiff --git ")
    return Html("".join(_file(part) for part in files))


def _file(part: str) -> Html:
    lines = part.splitlines()
    hunks = next((n for n, line in enumerate(lines) if line.startswith("@@")), len(lines))
    title = lines[0].removeprefix("diff --git ")
    named = [line[6:] for line in lines[:hunks] if line.startswith(("+++ b/", "--- a/"))]
    shown = lines[hunks : hunks + MOST_LINES]
    rows = [element("span", line or " ", class_=_kind(line)) for line in shown]
    body = element("pre", *rows, class_="diff") if rows else element("pre", "No lines differ.")
    name = named[-1] if named else title
    mark = sha256(name.encode(errors="surrogateescape")).hexdigest()
    head = element("div", name, class_="head")
    return element("section", head, body, class_="box", id=f"diff-{mark}")


def _kind(line: str) -> str | None:
    return {"+": "plus", "-": "minus", "@": "hunk"}.get(line[:1])
