"""The App's own list of deliveries: what GitHub remembers of them, and for how long."""

import json
import stat
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
import requests

from tests.github_emulator import GitHubEmulator
from tests.github_emulator.delivery_log import MOST_KEPT

LIST = "/api/v3/app/hook/deliveries"


def call(github: GitHubEmulator, address: str, method: str = "GET") -> requests.Response:
    """Ask as the App itself."""
    now = int(time.time())
    claims = {"iat": now - 60, "exp": now + 540, "iss": github.app.client_id}
    github.clock = lambda: now
    token = jwt.encode(claims, github.app.private_key, "RS256")
    address = address if "://" in address else github.url + address
    headers = {"Authorization": f"Bearer {token}"}
    return requests.request(method, address, headers=headers, timeout=10)


def pages(github: GitHubEmulator, address: str, towards: str = "next") -> list[list[int]]:
    """The numbers of the deliveries on each page, as far as the links lead."""
    found = []
    while address:
        answer = call(github, address)
        found.append([item["id"] for item in answer.json()])
        address = answer.links.get(towards, {}).get("url", "")
    return found


def ping(github: GitHubEmulator, count: int) -> list[int]:
    """The numbers of so many deliveries, newest first."""
    for _ in range(count):
        github.ping()
    github.wait_for_deliveries()
    return [made.number for made in reversed(github.deliveries)][:count]


def test_it_pages_by_a_cursor(github: GitHubEmulator) -> None:
    made = ping(github, 5)
    assert pages(github, f"{LIST}?per_page=2") == [made[:2], made[2:4], made[4:]]
    last = f"{LIST}?per_page=2&cursor=v1_{made[4]}"
    assert pages(github, last, "prev") == [made[4:], made[2:4], made[:2]]
    assert pages(github, LIST) == [made]
    assert call(github, f"{LIST}?cursor=2").status_code == 400


def test_it_lists_a_hundred_at_most(github: GitHubEmulator) -> None:
    made = ping(github, 101)
    assert pages(github, f"{LIST}?per_page=1000") == [made[:100], made[100:]]


def test_a_cursor_stays_where_it_is_when_new_ones_come(github: GitHubEmulator) -> None:
    made = ping(github, 4)
    first = call(github, f"{LIST}?per_page=2")
    ping(github, 3)
    second = call(github, first.links["next"]["url"])
    assert [item["id"] for item in second.json()] == made[2:]


def test_it_tells_failed_from_successful(github: GitHubEmulator) -> None:
    github.fail_deliveries(times=1)
    failed, good = reversed(ping(github, 2))
    assert pages(github, f"{LIST}?status=failure") == [[failed]]
    assert pages(github, f"{LIST}?status=success") == [[good]]
    (item,) = call(github, f"{LIST}?status=failure").json()
    assert (item["status"], item["status_code"]) == ("failed to connect to host", 502)


def test_it_forgets_after_three_days(github: GitHubEmulator) -> None:
    day = 24 * 3600
    github.clock = lambda: time.time() - 3 * day - 1
    (old,) = ping(github, 1)
    github.clock = lambda: time.time() - 3 * day + 60
    (known,) = ping(github, 1)
    assert pages(github, LIST) == [[known]]
    gone = [call(github, f"{LIST}/{old}"), call(github, f"{LIST}/{old}/attempts", "POST")]
    assert [answer.status_code for answer in gone] == [404, 404]


def test_it_redelivers_as_a_delivery_of_its_own(github: GitHubEmulator) -> None:
    github.fail_deliveries(times=1)
    (failed,) = ping(github, 1)
    assert call(github, f"{LIST}/{failed}/attempts", "POST").status_code == 202
    github.wait_for_deliveries()
    again, first = call(github, LIST).json()
    assert (again["guid"], again["event"]) == (first["guid"], first["event"])
    keys = ("redelivery", "status_code")
    assert [again[key] for key in keys] + [first[key] for key in keys] == [True, 202, False, 502]


def start(folder: Path) -> GitHubEmulator:
    """One of its own, whose deliveries nobody takes."""
    github = GitHubEmulator(folder)
    github.app.webhook_url = "http://127.0.0.1:9/webhooks/github"
    github.keep()
    return github


def test_it_remembers_over_a_restart(tmp_path: Path) -> None:
    with start(tmp_path) as github:
        made = ping(github, 3)
        expected: Any = call(github, LIST).json()
    assert stat.S_IMODE((tmp_path / "deliveries.jsonl").stat().st_mode) == 0o600
    with start(tmp_path) as github:
        assert call(github, LIST).json() == expected
        assert [item["status_code"] for item in expected] == [502] * 3
        assert call(github, f"{LIST}/{made[0]}/attempts", "POST").status_code == 202
        (later,) = ping(github, 1)
        assert pages(github, LIST)[0][0] == later > max(made)
        github.reset()
    with start(tmp_path) as github:
        assert call(github, LIST).json() == []


def test_it_remembers_a_bounded_number(tmp_path: Path) -> None:
    file = tmp_path / "deliveries.jsonl"
    with start(tmp_path) as github:
        (number,) = ping(github, 1)
    line = json.loads(file.read_text())
    lines = [json.dumps({**line, "number": number + n}) for n in range(3 * MOST_KEPT)]
    file.write_text("\n".join([*lines, lines[0][:20]]))
    with start(tmp_path) as github:
        assert len(github.deliveries) == len(file.read_text().splitlines()) == MOST_KEPT
        assert github.deliveries[-1].number == number + 3 * MOST_KEPT - 1


@pytest.mark.parametrize("number", ["0", "x", "٣"])
def test_it_knows_no_delivery_of_another_number(github: GitHubEmulator, number: str) -> None:
    assert call(github, f"{LIST}/{number}").status_code == 404
