"""Many repositories in one account, each connected to a workspace, and people who push to them."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth import get_user_model

from rollouts_app.connection import tie_repository
from rollouts_app.models import Workspace
from rollouts_app.sync.clients import app_client, client_for
from rollouts_app.sync.installations import store_installation
from tests import truth
from tests.github_emulator import Content, GitHubEmulator

BRANCHES = ("main", "dev", "fix/a", "fix/b")
ACCOUNT = "soak"
FILES = {
    "rollouts/maths/main.py": "print('maths')\n",
    "rollouts/maths/pyproject.toml": '[project]\nname = "maths"\ndescription = "Sums."\n',
    "rollouts/search/README.md": "# Search\n\nFinds things.\n",
    "configs/eval/maths.toml": '[experiment]\nrollout = "maths"\nentrypoint = "main.py"\n',
}
# In a hundred pushes.
KINDS = {"push": 80, "force push": 8, "back": 4, "delete": 8}


class Pushes:
    """Makes pushes, each of another kind and to another repository, as chance has it."""

    def __init__(self, github: GitHubEmulator, seed: int, repositories: int) -> None:
        self.kinds: Counter[str] = Counter()
        self._github = github
        self._chance = random.Random(seed)  # noqa: S311 - a course of events, no secret
        self._made = 0
        self._ways: dict[str, Callable[[str, str], object]] = {
            "push": self._push,
            "force push": self._force_push,
            "back": self._go_back,
            "delete": self._delete,
        }
        self.names = [f"{ACCOUNT}/agents-{number:02}" for number in range(1, repositories + 1)]
        self._connect()

    def make_one(self) -> None:
        """Push something to somewhere; what is not there yet is made."""
        name, branch = self._chance.choice(self.names), self._chance.choice(BRANCHES)
        [kind] = self._chance.choices(list(KINDS), list(KINDS.values()))
        is_there = branch in self.heads(name)
        # A default branch cannot be deleted at GitHub.
        if not is_there or (kind == "delete" and branch == BRANCHES[0]):
            kind = "push"
        self._made += 1
        self.kinds[kind] += 1
        self._ways[kind](name, branch)

    def heads(self, name: str) -> dict[str, str]:
        """Branch → commit, as git says."""
        return truth.heads(self.folder(name))

    def folder(self, name: str) -> Path:
        """The bare repository."""
        return self._github.bare(self._github.repository_named(name)).folder

    def _push(self, name: str, branch: str) -> None:
        start = None if branch in self.heads(name) else BRANCHES[0]
        self._github.push(name, branch, self._files(), start=start)

    def _force_push(self, name: str, branch: str) -> None:
        files = {path: content for path, content in self._files().items() if content is not None}
        self._github.replace(name, branch, {**FILES, **files})

    def _go_back(self, name: str, branch: str) -> None:
        self._github.move_branch(name, branch, self._chance.choice([*self.heads(name).values()]))

    def _delete(self, name: str, branch: str) -> None:
        self._github.delete_branch(name, branch)

    def _files(self) -> dict[str, Content]:
        """Changes of one rollout: changed, added, removed or broken."""
        number = self._made
        rollout = f"rollouts/r{self._chance.randrange(8)}"
        ways: list[dict[str, Content]] = [
            {f"{rollout}/main.py": f"print({number})\n"},
            {f"{rollout}/README.md": f"# Number {number}\n\nIt counts.\n"},
            {rollout: None, "README.md": f"{number}\n"},
            {f"{rollout}/pyproject.toml": f"[project\n{number}\n"},
            {"configs/training/t.toml": f'[experiment]\nrollout = "maths"\nn = {number}\n'},
        ]
        return self._chance.choice(ways)

    def _connect(self) -> None:
        """As onboarding does it, in bulk: nothing is delivered yet, all are to be synced."""
        github = self._github
        github.deliver = None
        github.add_user("ada")
        github.add_organization(ACCOUNT, owners=["ada"])
        for name in self.names:
            github.create_repository(name, files=FILES)
        installation = store_installation(app_client().installation(github.install(ACCOUNT)))
        client = client_for(installation)
        get_user_model().objects.create(username="ada", github_login="ada")
        for name in self.names:
            workspace = Workspace.objects.create(slug=name.partition("/")[2])
            tie_repository(workspace, installation, client.repository(name))
