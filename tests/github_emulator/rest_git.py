"""The API's part about branches and commits: what git says, in GitHub's words."""

from urllib.parse import quote

from . import reading
from .bare import BareRepository
from .credentials import Refused
from .finding import Found, find, mind_contents
from .reading import Commit, Person
from .rest import ROOT, Call, api, page
from .shapes import Json, node_id
from .web import Answer, Routes, json_answer

ROUTES = Routes()
EMPTY = "Git Repository is empty."
MOST_COMMITS = 1000


@api(ROUTES, "GET", "/repos/{owner}/{name}/branches")
@api(ROUTES, "GET", "/repositories/{number}/branches")
def branches(call: Call, **names: str) -> Answer:
    """https://docs.github.com/en/rest/branches/branches#list-branches"""
    found = find(call, names, "/branches")
    if isinstance(found, Answer):
        return found
    mind_contents(call, found)
    own = call.world.url + ROOT + f"/repos/{call.world.state.full_name(found.record)}"
    heads = call.world.bare(found.record).heads()
    shapes = [
        {"name": name, "commit": {"sha": sha, "url": f"{own}/commits/{sha}"}, "protected": False}
        for name, sha in heads.items()
    ]
    return page(call, shapes, list)


@api(ROUTES, "GET", "/repos/{owner}/{name}/commits")
@api(ROUTES, "GET", "/repositories/{number}/commits")
def commits(call: Call, **names: str) -> Answer:
    """https://docs.github.com/en/rest/commits/commits#list-commits"""
    found = find(call, names, "/commits")
    if isinstance(found, Answer):
        return found
    bare = _filled(call, found)
    commit = _resolved(bare, call.request.query.get("sha", found.record.default_branch), 404)
    history = reading.history(bare.folder, [commit], MOST_COMMITS)
    return page(call, history, lambda some: [_commit(call, found, each) for each in some])


@api(ROUTES, "GET", "/repos/{owner}/{name}/commits/{ref:rest}")
@api(ROUTES, "GET", "/repositories/{number}/commits/{ref:rest}")
def commit(call: Call, ref: str, **names: str) -> Answer:
    """https://docs.github.com/en/rest/commits/commits#get-a-commit"""
    found = find(call, names, f"/commits/{quote(ref)}")
    if isinstance(found, Answer):
        return found
    bare = _filled(call, found)
    facts = reading.commit(bare.folder, _resolved(bare, ref, 422))
    return json_answer(_commit(call, found, facts))


def _filled(call: Call, found: Found) -> BareRepository:
    """The repository's git side, where there is something to read."""
    mind_contents(call, found)
    bare = call.world.bare(found.record)
    if not bare.refs():
        raise Refused(409, EMPTY)
    return bare


def _resolved(bare: BareRepository, name: str, otherwise: int) -> str:
    found = bare.resolve(f"refs/heads/{name}") or bare.resolve(name)
    if found is None:
        words = {404: "Not Found", 422: f"No commit found for SHA: {name}"}
        raise Refused(otherwise, words[otherwise])
    return found


def _commit(call: Call, found: Found, commit: Commit) -> Json:
    """`commit`."""
    full_name = call.world.state.full_name(found.record)
    own, web = f"{call.world.url}{ROOT}/repos/{full_name}", f"{call.world.url}/{full_name}"
    return {
        "url": f"{own}/commits/{commit.id}",
        "sha": commit.id,
        "node_id": node_id("Commit", found.record.id) + commit.id,
        "html_url": f"{web}/commit/{commit.id}",
        "comments_url": f"{own}/commits/{commit.id}/comments",
        "commit": {
            "url": f"{own}/git/commits/{commit.id}",
            "author": _signature(commit.author),
            "committer": _signature(commit.committer),
            "message": commit.message,
            "comment_count": 0,
            "tree": {"sha": commit.tree, "url": f"{own}/git/trees/{commit.tree}"},
        },
        "author": _account(call, commit.author),
        "committer": _account(call, commit.committer),
        "parents": [
            {
                "sha": parent,
                "url": f"{own}/commits/{parent}",
                "html_url": f"{web}/commit/{parent}",
            }
            for parent in commit.parents
        ],
    }


def _signature(person: Person) -> Json:
    return {"name": person.name, "email": person.email, "date": person.date}


def _account(call: Call, person: Person) -> Json | None:
    """Whose public e-mail it is."""
    accounts = call.world.state.accounts.values()
    found = next((account for account in accounts if account.email == person.email), None)
    return call.shapes.account(found) if found else None
