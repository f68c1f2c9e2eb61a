"""Deliveries that go astray: lost, failed, doubled, late and in another order."""

from collections.abc import Iterator

import pytest

from tests.github_emulator import Delivery, GitHubEmulator

AGENTS = "acme/agents"


@pytest.fixture
def arrived(github: GitHubEmulator) -> Iterator[list[Delivery]]:
    """What the App gets to hear of acme/agents from now on."""
    github.create_repository(AGENTS, files={"README.md": "Agents\n"})
    github.install("acme", repositories=[AGENTS], by="ada")
    arrived: list[Delivery] = []

    def deliver(delivery: Delivery) -> int:
        arrived.append(delivery)
        return 202

    github.deliver = deliver
    yield arrived
    github.deliver = None


def push(github: GitHubEmulator, *names: str) -> list[str]:
    """One push for each name; the commits' ids."""
    return [github.push(AGENTS, "main", {name: name}) for name in names]


def commits(deliveries: list[Delivery]) -> list[str]:
    """What pushes led to, in the order given."""
    return [delivery.payload["after"] for delivery in deliveries]


def test_it_loses_deliveries(github: GitHubEmulator, arrived: list[Delivery]) -> None:
    lost = github.lose_deliveries("push", times=2)
    made = push(github, "a", "b", "c")
    assert (commits(arrived), lost.met) == (made[2:], 2)
    assert commits(github.deliveries[1:]) == made[2:]


def test_it_loses_only_what_it_is_told_to(github: GitHubEmulator, arrived: list[Delivery]) -> None:
    lost = github.lose_deliveries("create")
    github.create_branch(AGENTS, "x", "main")
    lost.end()
    github.create_branch(AGENTS, "y", "main")
    assert [delivery.event for delivery in arrived] == ["push", "create", "push"]


def test_it_fails_deliveries_and_can_repeat_them(
    github: GitHubEmulator, arrived: list[Delivery]
) -> None:
    github.fail_deliveries(times=1, status=504)
    push(github, "a")
    failed = github.deliveries[-1]
    assert (arrived, failed.status) == ([], 504)
    again = github.redeliver(failed.number)
    assert [(one.id, one.status, one.redelivery) for one in arrived] == [(failed.id, 202, True)]
    assert [one.number for one in github.deliveries[-2:]] == [failed.number, again.number]


def test_it_doubles_deliveries(github: GitHubEmulator, arrived: list[Delivery]) -> None:
    github.double_deliveries(times=1)
    one, other = push(github, "a", "b")
    assert commits(arrived) == [one, one, other]
    assert [arrived[0].id == arrived[1].id, arrived[0].body == arrived[1].body] == [True, True]


def test_it_holds_deliveries_until_they_may_go(
    github: GitHubEmulator, arrived: list[Delivery]
) -> None:
    held = github.hold_deliveries()
    made = push(github, "a", "b", "c")
    assert (arrived, commits(held.deliveries)) == ([], made)
    held.release_one(2)
    assert commits(arrived) == [made[2]]
    held.release()
    assert commits(arrived) == [made[2], made[0], made[1]]
    late = push(github, "d")
    assert commits(arrived)[3:] == late


def test_it_shuffles_by_a_seed(github: GitHubEmulator, arrived: list[Delivery]) -> None:
    orders = []
    for seed in (1, 1, 2):
        held = github.hold_deliveries()
        made = push(github, *"abcdefgh")
        held.release(seed=seed)
        orders.append([made.index(commit) for commit in commits(arrived)])
        arrived.clear()
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert [sorted(order) for order in orders] == [list(range(8))] * 3


def test_it_loses_and_doubles_what_it_holds(
    github: GitHubEmulator, arrived: list[Delivery]
) -> None:
    held = github.hold_deliveries()
    github.create_branch(AGENTS, "x", "main")
    assert held.lose("create") == 1
    held.double()
    held.release()
    assert [delivery.event for delivery in arrived] == ["push", "push"]
