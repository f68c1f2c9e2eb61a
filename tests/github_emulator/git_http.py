"""Smart HTTP by `git http-backend`: the bytes in both directions, and who may.

https://git-scm.com/docs/git-http-backend and https://git-scm.com/docs/gitprotocol-http
"""

import re
import subprocess
import threading
from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

from .body import Body, BrokenBody
from .credentials import SUSPENDED, Refused, mind_policy
from .git import environment
from .records import Account, Permission, Repository, Token
from .settings import World
from .web import Answer, Request, path_of

ADDRESS = re.compile(
    r"^/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/"
    r"(?P<rest>info/refs|git-upload-pack|git-receive-pack)$"
)
SERVICES = {"git-upload-pack", "git-receive-pack"}
PIPE_HOLDS = 60_000  # bytes that can be written to a process while it reads none


@dataclass(frozen=True)
class GitAccess:
    """`anonymous` lets anybody without credentials read and write, as `default_pusher`."""

    anonymous: bool = False
    default_pusher: str | None = None


@dataclass(frozen=True)
class Visit:
    """An exchange that is allowed."""

    world: World
    request: Request
    repository: Repository
    pusher: Account
    rest: str

    def run(
        self,
        body: Body,
        begin: Callable[[int, Mapping[str, str]], None],
        write: Callable[[bytes], None],
    ) -> None:
        """Pass the body to git, and its status, headers and content back.

        What a push changed is announced before this returns, hence before the client hears the end.
        """
        with self._watch(), self._process(body) as process, _fed(process.stdin, body):
            begin(*_head(process.stdout))
            while part := _some(process.stdout):
                write(part)

    def _watch(self) -> AbstractContextManager[Any]:
        if self.rest == "git-receive-pack":
            return self.world.refs_changing(self.repository, self.pusher)
        return nullcontext()

    def _process(self, body: Body) -> subprocess.Popen[bytes]:
        headers = self.request.headers
        length = {} if body.length is None else {"CONTENT_LENGTH": str(body.length)}
        variables = environment(
            GIT_PROJECT_ROOT=str(self.world.folder / "repositories"),
            GIT_HTTP_EXPORT_ALL="1",
            GIT_PROTOCOL=headers.get("Git-Protocol", ""),
            PATH_INFO=f"/{self.repository.id}.git/{self.rest}",
            REQUEST_METHOD=self.request.method,
            QUERY_STRING=f"service={self.request.query.get('service', '')}",
            CONTENT_TYPE=headers.get("Content-Type", ""),
            HTTP_CONTENT_ENCODING=headers.get("Content-Encoding", ""),
            REMOTE_ADDR="127.0.0.1",
            REMOTE_USER=self.pusher.login,
            **length,
        )
        return subprocess.Popen(
            ["git", "http-backend"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
        )


def is_git(path: str) -> bool:
    """Whether an address is one that git asks for."""
    return ADDRESS.match(path) is not None


def admit(request: Request, access: GitAccess) -> Visit | Answer:
    """The exchange a request may have, or the answer that refuses it in GitHub's manner."""
    match = ADDRESS.match(request.path)
    if match is None:
        return _words(404, "Not Found")
    service = request.query.get("service") if match["rest"] == "info/refs" else match["rest"]
    if service not in SERVICES:
        return _words(403, "Please upgrade your git client.")
    full_name = f"{match['owner']}/{match['name']}"
    with request.world.lock:
        state = request.world.state
        repository = state.repository(full_name) or state.repository_once(full_name)
        visitor = _visitor(request, access, repository)
        if isinstance(visitor, Answer):
            return visitor
        if repository is None or visitor.permission is None:
            return _words(404, "Repository not found.")
        refusal = _refused_push(visitor, repository, full_name)
        if service == "git-receive-pack" and refusal:
            return refusal
        if state.repository(full_name) is None:
            return _moved(request, state.full_name(repository), match["rest"])
        return Visit(request.world, request, repository, visitor.account, match["rest"])


@dataclass(frozen=True)
class _Visitor:
    account: Account
    permission: Permission | None
    is_app: bool = False


def _visitor(
    request: Request, access: GitAccess, repository: Repository | None
) -> _Visitor | Answer:
    """Who asks, and what they may do; GitHub asks for a login rather than say what is there."""
    world = request.world
    password = _password(request)
    token = world.state.tokens.get(password or "")
    if token and token.expires_at > world.clock():
        return _bearer(world, token, repository)
    if access.anonymous and repository:
        owner = world.owner_of(world.state.accounts[repository.owner_id])
        pusher = world.account_named(access.default_pusher) if access.default_pusher else owner
        return _Visitor(pusher, "write")
    if password is None and repository and not repository.private:
        return _Visitor(world.state.accounts[repository.owner_id], "read")
    return _words(
        401,
        "Invalid username or token. Password authentication is not supported for Git operations.",
        {"WWW-Authenticate": 'Basic realm="GitHub"'},
    )


def _bearer(world: World, token: Token, repository: Repository | None) -> _Visitor | Answer:
    """What a good token may do with a repository."""
    owner = world.state.accounts[repository.owner_id] if repository else None
    try:
        if owner:
            mind_policy(world, owner, by_person=token.kind == "user")
    except Refused as refusal:
        return _words(refusal.status, refusal.message)
    if token.kind == "user":
        person = world.state.accounts[token.subject]
        return _Visitor(person, world.permission(person, repository) if repository else None)
    installation = world.installation(token.subject)
    if installation.suspended_at:
        return _words(403, SUSPENDED)
    account = world.state.accounts[installation.account_id]
    permission: Permission | None = None
    if repository and not repository.private:
        permission = "read"
    if repository and world.token_reaches(token, repository) and "contents" in token.permissions:
        permission = "write" if token.permissions["contents"] == "write" else "read"
    return _Visitor(world.owner_of(account), permission, is_app=True)


def _refused_push(visitor: _Visitor, repository: Repository, full_name: str) -> Answer | None:
    if visitor.permission == "read":
        personal = f"Permission to {full_name}.git denied to {visitor.account.login}."
        return _words(
            403, "Write access to repository not granted." if visitor.is_app else personal
        )
    if repository.archived:
        return _words(403, "This repository was archived so it is read-only.")
    return None


def _password(request: Request) -> str | None:
    """What stands behind the colon of Basic credentials; None without any."""
    scheme, _, coded = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return b64decode(coded).decode(errors="replace").partition(":")[2]
    except BadBase64:
        return ""


def _moved(request: Request, full_name: str, rest: str) -> Answer:
    address = path_of(f"{full_name}.git", rest)
    service = request.query.get("service")
    query = f"?service={service}" if service else ""
    return _words(301, "Moved", {"Location": request.world.url + address + query})


def _words(status: int, words: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer git shows its user as `remote: …`."""
    typed = {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
    return Answer(status, words.encode(), typed)


def _head(stdout: IO[bytes] | None) -> tuple[int, dict[str, str]]:
    """Status and headers of a CGI answer."""
    headers = {}
    while stdout and (line := stdout.readline().decode("latin-1").rstrip("\r\n")):
        name, _, value = line.partition(": ")
        headers[name] = value
    return int(headers.pop("Status", "200").split(" ")[0]), headers


def _some(stdout: IO[bytes] | None) -> bytes:
    """What is there to read, at least one byte unless it ended."""
    return stdout.read1(65536) if stdout else b""  # type: ignore[attr-defined]


@contextmanager
def _fed(stdin: IO[bytes] | None, body: Body) -> Iterator[None]:
    """Write the body to the process; a large one beside, as git may answer before it read all."""
    if stdin is None:
        raise RuntimeError("git http-backend was started without a pipe to write to.")
    if body.length is not None and body.length < PIPE_HOLDS:
        _pour(body, stdin)
        yield
        return
    feeding = threading.Thread(target=_pour, args=(body, stdin), daemon=True)
    feeding.start()
    try:
        yield
    finally:
        feeding.join()


def _pour(body: Body, stdin: IO[bytes]) -> None:
    try:
        with stdin:
            for part in body:
                stdin.write(part)
    except (OSError, BrokenBody):
        # git has gone, or the client has; either way what git says next is what counts.
        body.skip()
