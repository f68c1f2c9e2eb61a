"""Pages cost the same with ten branches as with five thousand."""

import gzip
import time

import pytest
from django.utils.timezone import now

from rollouts_app.models import Branch, Repository, User
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

MANY = 5_000
PART = {"HX-Request": "true", "HX-Target": "branch-options"}
ADDRESSES = {
    "the list": ("/acme/rollouts", {}),
    "another branch": ("/acme/rollouts?branch=dev", {}),
    "the picker": ("/acme/branches", PART),
    "a search in the picker": ("/acme/branches?q=feature", PART),
    "one rollout": ("/acme/rollouts/r00?branch=dev", {}),
    "a comparison": ("/acme/compare?branch=dev", {}),
}


@pytest.fixture
def fifty(synced: Repository, github: GitHubEmulator) -> Repository:
    """Fifty rollouts with descriptions and configs on main, one of them changed on dev."""
    files = {}
    for number in range(48):
        name = f"r{number:02}"
        files[f"rollouts/{name}/README.md"] = f"# {name}\n\nRollout {number} answers questions.\n"
        files[f"configs/eval/{name}.toml"] = f'[experiment]\nrollout = "{name}"\n'
    github.push(NAME, "main", files)
    github.push(NAME, "dev", {"rollouts/r00/README.md": "Other."}, start="main")
    check_all(synced)
    return synced


def add_branches(repository: Repository, count: int) -> None:
    main = repository.branches.get(name="main")
    Branch.objects.bulk_create(
        Branch(
            repository=repository,
            name=f"feature/{number:05}-of-many",
            commit=main.commit,
            catalog_id=main.catalog_id,
            changed_at=now(),
        )
        for number in range(count)
    )


def measured(user: User) -> dict[str, tuple[int, int]]:
    """Of each address the queries, and the kilobytes sent, compressed."""
    client = client_of(user)
    found = {}
    for name, (address, headers) in ADDRESSES.items():
        client.get(address, headers=headers)
        with counted_queries() as queries:
            answer = client.get(address, headers=headers)
        assert answer.status_code == 200
        found[name] = len(queries), len(gzip.compress(answer.content)) // 1000
    return found


def test_pages_cost_the_same(fifty: Repository, ada: User) -> None:
    """B06: the same queries, and hardly another size."""
    add_branches(fifty, 8)
    few = measured(ada)
    Branch.objects.filter(name__startswith="feature/").delete()
    add_branches(fifty, MANY)
    many = measured(ada)
    assert {name: queries for name, (queries, _size) in many.items()} == {
        name: queries for name, (queries, _size) in few.items()
    }
    for name, (queries, size) in many.items():
        assert queries <= 9, name
        assert size <= few[name][1] + 2, name
        assert size <= 20, name


def test_the_nearest_of_many_names_are_found_at_once(fifty: Repository, ada: User) -> None:
    add_branches(fifty, MANY)
    begun = time.thread_time()
    answer = client_of(ada).get("/acme/rollouts?branch=feature/04999-of-mony")
    assert time.thread_time() - begun < 1
    assert answer.status_code == 404
    assert "feature/04999-of-many" in answer.text
