"""What a rollout's directory holds besides the files that are read of it."""

from typing import NamedTuple

from rollouts_app.catalog import read_rollout, wanted_files


class Entry(NamedTuple):
    name: str
    id: str = "1"
    kind: str = "file"


def test_of_many_files_the_first_are_kept() -> None:
    wanted = wanted_files([Entry(f"f{number:04}") for number in range(300)])
    assert (len(wanted.files), wanted.count) == (200, 300)


def test_it_tells_what_is_odd_about_a_directory() -> None:
    wanted = wanted_files([Entry("main.py"), Entry("data", kind="symlink")])
    contents = read_rollout("My_Rollout", {}, wanted)
    assert [(p.id, p.severity, p.path) for p in contents.problems] == [
        ("pyproject-missing", "note", "rollouts/My_Rollout/"),
        ("symlink-inside", "note", "rollouts/My_Rollout/data"),
        ("rollout-name", "note", "rollouts/My_Rollout/"),
    ]
    assert contents.metadata == {
        "files": [["main.py", "file"], ["data", "symlink"]],
        "file-count": 2,
    }
