"""A repository's pages: its directories, files and commits, at branches, tags and commits."""

from dataclasses import dataclass
from pathlib import Path

from . import pages, reading
from .markup import Child, Html, element, link, void
from .reading import Commit
from .records import Repository
from .web import Answer, Request, Routes, path_of

ROUTES = Routes()
SHAPES = {
    "directory": "M1 3h5l1.5 2H15v9H1z",
    "file": "M3 1h7l3 3v11H3z",
    "symlink": "M3 1h7l3 3v11H3zM5 11l5-5m-4 0h4v4",
    "submodule": "M2 5l6-3 6 3v6l-6 3-6-3zm0 0l6 3 6-3M8 8v6",
}
MOST_COMMITS = 100
MOST_LINES = 20_000


@dataclass(frozen=True)
class Place:
    """A path in a repository at a commit, and the name that led there."""

    repository: Repository
    full_name: str
    folder: Path
    name: str
    commit: str
    path: str

    def address(self, view: str, path: str) -> str:
        """Where `view` shows a path at the same name."""
        return path_of(self.full_name, view, self.name, path)


def _at(request: Request, owner: str, repository: str, rest: str) -> Place | Answer:
    """The place that REF/PATH means; branches may have slashes, and win over commits."""
    record = request.world.state.repository(f"{owner}/{repository}")
    if record is None:
        return moved_or_missing(request, owner, repository)
    bare = request.world.bare(record)
    refs, parts = bare.refs(), rest.split("/")
    for length in range(1, len(parts) + 1):
        name, path = "/".join(parts[:length]), "/".join(parts[length:]).strip("/")
        found = refs.get(f"refs/heads/{name}") or refs.get(f"refs/tags/{name}")
        if found or (length == 1 and _looks_like_a_commit(name)):
            commit = bare.resolve(found or name)
            if commit:
                full_name = request.world.state.full_name(record)
                return Place(record, full_name, bare.folder, name, commit, path)
    return pages.nothing_here(request, f"There is no branch, tag or commit called {rest}.")


def moved_or_missing(request: Request, owner: str, repository: str) -> Answer:
    """Lead from a repository's former name to the present one, as GitHub does."""
    state = request.world.state
    record = state.repository_once(f"{owner}/{repository}")
    if record is None:
        what = f"There is no repository called {owner}/{repository}."
        return pages.nothing_here(request, what)
    rest = request.path.split("/", 3)[3:]
    address = path_of(state.full_name(record)) + "".join(f"/{part}" for part in rest)
    return Answer(301, b"", {"Location": address})


@ROUTES.add("GET", "/{owner}/{repository}")
def repository_page(request: Request, owner: str, repository: str) -> Answer:
    """The default branch's root, the branches, and how to clone."""
    record = request.world.state.repository(f"{owner}/{repository}")
    if record is None:
        return moved_or_missing(request, owner, repository)
    place = _at(request, owner, repository, record.default_branch)
    full_name = request.world.state.full_name(record)
    clone = f"git clone {request.world.url}/{full_name}.git"
    title = [full_name, " ", element("span", _visibility(record), class_="tag")]
    return pages.show(
        request,
        full_name,
        element("h1", title),
        element("p", record.description, class_="muted"),
        element("div", element("pre", clone, class_="text"), class_="box"),
        [element("p", "This repository is empty: push a first commit.")]
        if isinstance(place, Answer)
        else [*_listing(place), _readme(place)],
        _branches(request, record, full_name),
    )


@ROUTES.add("GET", "/{owner}/{repository}/tree/{rest:rest}")
def tree(request: Request, owner: str, repository: str, rest: str) -> Answer:
    """A directory."""
    place = _at(request, owner, repository, rest)
    if isinstance(place, Answer):
        return place
    listing = _listing(place)
    if not listing:
        what = f"{place.path} is no directory at {place.name}."
        return pages.nothing_here(request, what)
    return pages.show(request, f"{place.full_name}/{place.path}", crumbs(place), *listing)


@ROUTES.add("GET", "/{owner}/{repository}/blob/{rest:rest}")
def blob(request: Request, owner: str, repository: str, rest: str) -> Answer:
    """A file, with an address for each line: #L12."""
    place = _at(request, owner, repository, rest)
    if isinstance(place, Answer):
        return place
    content = reading.file(place.folder, place.commit, place.path)
    if content is None:
        return pages.nothing_here(request, f"There is no file {place.path} at {place.name}.")
    raw = link("Raw", place.address("raw", place.path))
    head = element("div", f"{len(content):,} bytes · ", raw, class_="head")
    return pages.show(
        request,
        f"{place.path} at {place.name}",
        crumbs(place),
        element("section", head, _lines(content), class_="box"),
    )


@ROUTES.add("GET", "/{owner}/{repository}/raw/{rest:rest}")
def raw(request: Request, owner: str, repository: str, rest: str) -> Answer:
    """A file's bytes; never as anything a browser would run."""
    place = _at(request, owner, repository, rest)
    if isinstance(place, Answer):
        return place
    content = reading.file(place.folder, place.commit, place.path)
    if content is None:
        return pages.nothing_here(request, f"There is no file {place.path} at {place.name}.")
    plain = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Answer(200, content, plain)


@ROUTES.add("GET", "/{owner}/{repository}/commits")
def commits_of_default(request: Request, owner: str, repository: str) -> Answer:
    """The history of the default branch."""
    record = request.world.state.repository(f"{owner}/{repository}")
    if record is None:
        return moved_or_missing(request, owner, repository)
    return commits(request, owner, repository, record.default_branch)


@ROUTES.add("GET", "/{owner}/{repository}/commits/{rest:rest}")
def commits(request: Request, owner: str, repository: str, rest: str) -> Answer:
    """The history of a branch, or of one path on it."""
    place = _at(request, owner, repository, rest)
    if isinstance(place, Answer):
        return place
    history = reading.history(place.folder, [place.commit], MOST_COMMITS, place.path)
    return pages.show(
        request,
        f"Commits on {place.name}",
        crumbs(place),
        commit_list(place.full_name, history),
    )


def commit_list(full_name: str, history: list[Commit]) -> Html:
    """Commits, one a row."""
    rows = [
        element(
            "div",
            element(
                "span",
                link(commit.subject or commit.id, path_of(full_name, "commit", commit.id)),
                element(
                    "div",
                    f"{commit.author.name} · ",
                    pages.moment(commit.author.date),
                    class_="muted",
                ),
                class_="rest",
            ),
            element("code", commit.id[:7]),
            class_="row",
        )
        for commit in history
    ]
    return element("section", *rows, class_="box")


def crumbs(place: Place) -> Html:
    """Where we are: repository / path, at a branch or commit."""
    trail: list[Child] = [link(place.full_name, path_of(place.full_name))]
    parts = place.path.split("/") if place.path else []
    for depth, part in enumerate(parts, 1):
        here = place.address("tree", "/".join(parts[:depth]))
        trail.append(link(part, here) if depth < len(parts) else part)
    at = element("span", f" at {place.name}", class_="tag")
    history = element("span", link("History", place.address("commits", place.path)), class_="tag")
    return element("h1", pages.joined(trail, " / "), " ", at, " ", history)


def _listing(place: Place) -> list[Html]:
    """The last commit and the entries of a directory; nothing when there is no such directory."""
    entries = reading.directory(place.folder, place.commit, place.path)
    if entries is None:
        return []
    last = reading.commit(place.folder, place.commit)
    when = element("span", f"{last.author.name}, ", pages.moment(last.author.date), class_="muted")
    subject = link(last.subject, path_of(place.full_name, "commit", last.id))
    rows = []
    for entry in entries:
        path = f"{place.path}/{entry.name}".strip("/")
        view = "tree" if entry.kind == "directory" else "blob"
        label: Child = link(entry.name, place.address(view, path))
        if entry.kind == "submodule":
            label = f"{entry.name} @ {entry.id[:7]}"
        rows.append(
            element("div", _icon(entry.kind), element("span", label, class_="rest"), class_="row")
        )
    head = element("div", subject, " ", when, " ", element("code", last.id[:7]), class_="head")
    return [element("section", head, *rows, class_="box")]


def _readme(place: Place) -> Html | None:
    content = reading.file(place.folder, place.commit, "README.md")
    if content is None:
        return None
    text = element("pre", content.decode(errors="replace"), class_="text")
    return element("section", element("div", "README.md", class_="head"), text, class_="box")


def _branches(request: Request, record: Repository, full_name: str) -> Html:
    rows = [
        element(
            "div",
            element("span", link(name, path_of(full_name, "tree", name)), class_="rest"),
            element("span", "default", class_="tag") if name == record.default_branch else None,
            link("Commits", path_of(full_name, "commits", name)),
            element("code", commit[:7]),
            class_="row",
        )
        for name, commit in request.world.bare(record).heads().items()
    ]
    head = element("div", "1 branch" if len(rows) == 1 else f"{len(rows)} branches", class_="head")
    return element("section", head, *rows, class_="box")


def _lines(content: bytes) -> Html:
    """A file as a table of lines, each with an anchor."""
    if b"\0" in content:
        return element("pre", "This file is not text.", class_="text")
    rows = [
        element(
            "tr",
            element("td", link(str(number), f"#L{number}"), class_="n"),
            element("td", line),
            id=f"L{number}",
        )
        for number, line in enumerate(content.decode(errors="replace").splitlines()[:MOST_LINES], 1)
    ]
    return element("div", element("table", *rows, class_="code"), class_="scroll")


def _icon(kind: str) -> Html:
    path = void("path", d=SHAPES[kind])
    return element("svg", path, viewBox="0 0 16 16", role="img", aria_label=kind, class_=kind)


def _visibility(repository: Repository) -> str:
    archived = ", archived" if repository.archived else ""
    return ("Private" if repository.private else "Public") + archived


def _looks_like_a_commit(name: str) -> bool:
    return len(name) >= 4 and all(sign in "0123456789abcdef" for sign in name.lower())
