"""The API's way to a repository from a template.

https://docs.github.com/en/rest/repos/repos#create-a-repository-using-a-template
"""

import re
import threading
from contextlib import suppress

from .core import UnknownName
from .credentials import NOT_ACCESSIBLE, Refused
from .finding import find
from .git import GitFailed, git
from .reading import file
from .records import Repository
from .rest import Call, api
from .settings import World
from .web import Answer, Routes, json_answer

ROUTES = Routes()
# How long the new repository stays empty after the answer, in seconds.
LATER = 0.3
NAME = re.compile(r"[^/]+/[\w.-]{1,100}", re.ASCII)


@api(ROUTES, "POST", "/repos/{owner}/{name}/generate")
def generate(call: Call, **names: str) -> Answer:
    """Create it at once, and fill it a moment later, as GitHub does."""
    world, person, fields = call.world, call.by_person(), call.request.fields
    found = find(call, names, "/generate")
    if isinstance(found, Answer):
        return found
    owner = world.account_named(str(fields.get("owner") or person.login))
    full_name = f"{owner.login}/{fields.get('name', '')}"
    installed = world.installation_on(owner)
    may = installed is not None and installed.permissions.get("administration") == "write"
    if not may or not world.may_administer(person, owner):
        raise Refused(403, NOT_ACCESSIBLE)
    if not NAME.fullmatch(full_name) or world.state.repository(full_name):
        raise Refused(422, "Could not clone: Name already exists on this account")
    fresh = world.create_repository(full_name, private=bool(fields.get("private")))
    threading.Timer(LATER, _fill, [world, found.record, fresh, person.login]).start()
    return json_answer(call.shapes.full_repository(fresh, "admin"), 201)


def _fill(world: World, template: Repository, fresh: Repository, author: str) -> None:
    # The world may have been reset meanwhile.
    with suppress(GitFailed, UnknownName, KeyError):
        _copy(world, template, fresh, author)


def _copy(world: World, template: Repository, fresh: Repository, author: str) -> None:
    folder, branch = world.bare(template).folder, template.default_branch
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", branch).decode()
    files = {path: file(folder, branch, path) or b"" for path in listed.split("\0") if path}
    name = world.state.full_name(fresh)
    world.push(name, fresh.default_branch, files, message="Initial commit", author=author)
