"""The demo's rollouts, made like those of the official template: the checks say nothing of them."""

import pytest

from rollouts_app.models import Repository
from tests.github_emulator import GitHubEmulator
from tests.github_emulator.sample import files_of
from tests.syncing import NAME, check_all, told_of

pytestmark = pytest.mark.django_db

NAMES = ("multiply-harbor-strands", "multiply-local-openai", "multiply-local-strands")


def test_there_is_nothing_to_say(synced: Repository, github: GitHubEmulator) -> None:
    files = {path: text for name in ("base", *NAMES) for path, text in files_of(name).items()}
    github.push(NAME, "sample", {**files})
    check_all(synced)
    branch = synced.branches.get(name="sample")
    assert {name: told_of(name, branch) for name in NAMES} == {name: [] for name in NAMES}
