"""What people do at GitHub. What GitHub would not let them do now does not happen."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tests.github_emulator import Content, GitFailed, Symlink
from tests.github_emulator.core import UnknownName
from tests.sync_sequences.world import World

# What a push changes; the number makes it one that was never there before.
CONTENTS: dict[str, Callable[[int], Mapping[str, Content]]] = {
    "maths": lambda n: {"rollouts/maths/main.py": f"print({n})\n"},
    "maths is new": lambda n: {"rollouts/maths": None, "rollouts/maths/README.md": f"# {n}\n"},
    "maths is gone": lambda n: {"rollouts/maths": None},
    "maths is broken": lambda n: {"rollouts/maths/pyproject.toml": f"[project\n{n}"},
    "one more": lambda n: {f"rollouts/r{n}/main.py": "print()\n"},
    "config": lambda n: {"configs/training/a.toml": f'[experiment]\nrollout = "maths"\nn = {n}\n'},
    "config is broken": lambda n: {"configs/eval/maths.toml": f"= {n}"},
    "config is gone": lambda n: {"configs/eval/maths.toml": None},
    "no rollouts": lambda n: {"rollouts": None},
    "rollouts is a file": lambda n: {"rollouts": f"{n}"},
    "a symlink": lambda n: {"rollouts/link": Symlink("maths")},
    "something else": lambda n: {"README.md": f"{n}\n"},
    "nothing": lambda n: {},
}


def happen(world: World, change: Callable[[], object]) -> None:
    """Let it happen unless git or GitHub refuses it, and remember the heads that came of it."""
    with suppress(GitFailed, UnknownName):
        change()
    world.note_heads()


@dataclass(frozen=True)
class Push:
    """A commit on top of the branch, which may be new."""

    which: str
    branch: str
    what: str

    def run(self, world: World) -> None:
        files = CONTENTS[self.what](world.fresh())
        happen(world, lambda: world.github.push(world.name(self.which), self.branch, files))


@dataclass(frozen=True)
class ForcePush:
    """A history without anything of the old one."""

    which: str
    branch: str
    what: str

    def run(self, world: World) -> None:
        files = {**CONTENTS[self.what](world.fresh()), "LICENSE": "MIT\n"}
        kept = {path: content for path, content in files.items() if content is not None}
        happen(world, lambda: world.github.replace(world.name(self.which), self.branch, kept))


@dataclass(frozen=True)
class MoveTo:
    """The branch is forced to a commit that it, or another one, had before."""

    which: str
    branch: str
    commit: int

    def run(self, world: World) -> None:
        commits = [one for had in world.had[self.which].values() for one in had if one]
        name, commit = world.name(self.which), commits[self.commit % len(commits)]
        if self.branch in world.github.heads(name):
            happen(world, lambda: world.github.move_branch(name, self.branch, commit))


@dataclass(frozen=True)
class CreateBranch:
    which: str
    branch: str
    at: str

    def run(self, world: World) -> None:
        name = world.name(self.which)
        happen(world, lambda: world.github.create_branch(name, self.branch, self.at))


@dataclass(frozen=True)
class CreateMany:
    """Several branches in one push."""

    which: str
    at: str

    def run(self, world: World) -> None:
        first = world.fresh()
        at = world.github.heads(world.name(self.which)).get(self.at)
        lines = [f"reset refs/heads/many/{first}-{n}\nfrom {at}\n\n" for n in range(3)]
        if at:
            stream = "".join(lines).encode()
            happen(world, lambda: world.github.fast_import(world.name(self.which), stream))


@dataclass(frozen=True)
class DeleteBranch:
    which: str
    branch: str

    def run(self, world: World) -> None:
        if self.branch != world.there(self.which).default_branch:
            happen(world, lambda: world.github.delete_branch(world.name(self.which), self.branch))


@dataclass(frozen=True)
class Tag:
    which: str
    at: str

    def run(self, world: World) -> None:
        name, tag = world.name(self.which), f"v{world.fresh()}"
        happen(world, lambda: world.github.create_tag(name, tag, self.at))


@dataclass(frozen=True)
class SetDefault:
    which: str
    branch: str

    def run(self, world: World) -> None:
        name = world.name(self.which)
        if self.branch in world.github.heads(name):
            world.github.edit_repository(name, default_branch=self.branch)


@dataclass(frozen=True)
class Rename:
    """To a name that is free: the other repository's former one, perhaps."""

    which: str
    to: str

    def run(self, world: World) -> None:
        if not world.github.state.repository(f"{world.owner(self.which)}/{self.to}"):
            world.github.rename_repository(world.name(self.which), self.to)


@dataclass(frozen=True)
class RenameOwner:
    account: str
    to: str

    def run(self, world: World) -> None:
        if not world.github.state.account(self.to):
            world.github.rename_account(world.login(self.account), self.to)


@dataclass(frozen=True)
class Transfer:
    which: str
    to: str

    def run(self, world: World) -> None:
        name, to = world.name(self.which), world.login(self.to)
        if not world.github.state.repository(f"{to}/{name.partition('/')[2]}"):
            world.github.transfer_repository(name, to)


@dataclass(frozen=True)
class Publish:
    which: str

    def run(self, world: World) -> None:
        world.github.make_public(world.name(self.which))


@dataclass(frozen=True)
class Hide:
    which: str

    def run(self, world: World) -> None:
        world.github.make_private(world.name(self.which))


@dataclass(frozen=True)
class Suspend:
    account: str

    def run(self, world: World) -> None:
        if number := world.installation(self.account):
            world.github.suspend(number)


@dataclass(frozen=True)
class Unsuspend:
    account: str

    def run(self, world: World) -> None:
        if number := world.installation(self.account):
            world.github.unsuspend(number)


@dataclass(frozen=True)
class Uninstall:
    account: str

    def run(self, world: World) -> None:
        if number := world.installation(self.account):
            world.github.uninstall(number)


@dataclass(frozen=True)
class Install:
    account: str

    def run(self, world: World) -> None:
        if not world.installation(self.account):
            world.github.install(world.login(self.account))


@dataclass(frozen=True)
class TakeAway:
    """The installation reaches the repository no longer."""

    which: str

    def run(self, world: World) -> None:
        installation = world.github.state.installation_for(world.there(self.which))
        if installation:
            world.github.remove_repositories(installation.id, [world.name(self.which)])


@dataclass(frozen=True)
class GiveBack:
    """The installation on the owner's account, if there is one, reaches the repository again."""

    which: str

    def run(self, world: World) -> None:
        repository = world.there(self.which)
        owner = world.github.state.accounts[repository.owner_id]
        installation = world.github.installation_on(owner)
        if installation and not world.github.state.installation_for(repository):
            world.github.add_repositories(installation.id, [world.name(self.which)])


@dataclass(frozen=True)
class TakePermission:
    """The installation may no longer read contents."""

    account: str

    def run(self, world: World) -> None:
        if number := world.installation(self.account):
            world.github.installation(number).permissions.pop("contents", None)
            world.github.expire_tokens("installation")


@dataclass(frozen=True)
class AcceptPermission:
    account: str

    def run(self, world: World) -> None:
        if number := world.installation(self.account):
            world.github.accept_permissions(number)


@dataclass(frozen=True)
class ExpireTokens:
    def run(self, world: World) -> None:
        world.github.expire_tokens("installation")
