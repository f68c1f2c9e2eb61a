"""The catalog: files of others in, rollouts, configs and problems out, whatever they hold."""

from typing import Any, NamedTuple

import pytest

from rollouts_app.catalog import (
    Listing,
    Problem,
    read_config,
    read_rollout,
    rollouts_in,
    wanted_configs,
    wanted_files,
)

PYPROJECT = "rollouts/maths/pyproject.toml"
CONFIG = "configs/eval/maths.toml"


class Entry(NamedTuple):
    name: str
    id: str = "1"
    kind: str = "file"


def pyproject(text: str | bytes) -> dict[str, bytes | None]:
    return {"pyproject.toml": text if isinstance(text, bytes) else text.encode()}


def problems_of(text: str | bytes) -> list[tuple[str, int | None]]:
    return [(p.id, p.line) for p in read_rollout("maths", pyproject(text)).problems]


# Entries


def test_rollouts_are_the_direct_subdirectories() -> None:
    entries = [
        *(Entry(".gitkeep"), Entry("README.md"), Entry("link", kind="symlink")),
        *(Entry("module", kind="submodule"), Entry("maths", "2", "directory")),
        *(Entry(".hidden", "3", "directory"), Entry("Maths", "4", "directory")),
    ]
    assert rollouts_in(entries).ids == {"maths": "2", ".hidden": "3", "Maths": "4"}
    assert rollouts_in([]) == Listing({}, frozenset(), 0)


def test_names_that_cannot_be_stored_stay_distinct() -> None:
    names = ["caf\udce9", "caf\\xe9", "a" * 300, "a" * 301, "a" * 255]
    found = rollouts_in([Entry(name, str(at), "directory") for at, name in enumerate(names)])
    assert found.ids == {
        "caf\\xe9": "1",
        "a" * 255: "4",
        "caf\\xe9 (2)": "0",
        "a" * 254 + "…": "2",
        "a" * 254 + "… (2)": "3",
    }
    assert found.changed == found.ids.keys() - {"caf\\xe9", "a" * 255}
    assert found.count == 5


def test_it_wants_the_project_and_one_readme() -> None:
    entries = [
        *(Entry("README", "1"), Entry("readme.MD", "2"), Entry("README.rst", "3")),
        *(Entry("main.py", "4"), Entry("pyproject.toml", "5"), Entry("README.md", "6", "symlink")),
    ]
    wanted = wanted_files(entries)
    assert (wanted.ids, wanted.others) == ({"pyproject.toml": "5", "readme.MD": "2"}, {})
    assert wanted.files[:2] == (("README", "file"), ("readme.MD", "file"))
    assert (wanted.files[-1], wanted.count) == (("README.md", "symlink"), 6)
    odd = [Entry("pyproject.toml", kind="directory"), Entry("README", kind="symlink")]
    wanted = wanted_files([*odd, Entry("x.md")])
    assert (wanted.ids, wanted.others) == (
        {},
        {"pyproject.toml": "directory", "README": "symlink"},
    )


def test_configs_are_toml_files_but_for_the_template() -> None:
    entries = [
        *(Entry("maths.toml", "1"), Entry("default.toml", "2"), Entry("notes.md", "3")),
        *(Entry("deep.toml", "4", "directory"), Entry("link.toml", "5", "symlink")),
        Entry("caf\udce9.toml", "6"),
    ]
    assert wanted_configs("training", entries).ids == {
        "configs/training/maths.toml": "1",
        "configs/training/caf\\xe9.toml": "6",
    }


# Rollouts


def test_it_reads_what_the_project_says() -> None:
    contents = read_rollout(
        "maths",
        pyproject(
            """
            [project]
            name = "maths"
            version = "0.1.0"
            description = "  Multiplies numbers,\\n step by step "
            requires-python = ">=3.12"
            license = { text = "MIT" }
            keywords = ["maths", "tools"]
            tags = ["maths", "hard"]
            dependencies = ["osmosis-ai>=0.3", "httpx"]
            authors = [{ name = "Ada" }]
            """
        )
        | {"README.md": b"# Maths\n\nSomething else.\n"},
    )
    assert contents.description == "Multiplies numbers, step by step"
    assert contents.readme == "# Maths\n\nSomething else.\n"
    assert contents.metadata == {
        "name": "maths",
        "version": "0.1.0",
        "requires-python": ">=3.12",
        "license": "MIT",
        "dependencies": ["osmosis-ai>=0.3", "httpx"],
        "tags": ["maths", "tools", "hard"],
        "readme": "README.md",
    }
    assert contents.problems == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [('"MIT"', "MIT"), ('{ file = "LICENSE" }', "LICENSE"), ('{ text = "A\\u0000B" }', "A\ufffdB")],
)
def test_it_knows_both_forms_of_licence(value: str, expected: str) -> None:
    contents = read_rollout("maths", pyproject(f"[project]\nlicense = {value}\n"))
    assert contents.metadata == {"license": expected}
    assert contents.problems == ()


def test_the_readme_stands_in_for_a_description() -> None:
    files: dict[str, bytes | None] = {"README.md": b"# Maths\n\nCounts *well*. And more.\n"}
    assert read_rollout("maths", files).description == "Counts well."
    blank = files | pyproject('[project]\ndescription = ""\n')
    assert read_rollout("maths", blank).description == "Counts well."


def test_a_rollout_without_files_is_one_all_the_same() -> None:
    contents = read_rollout("maths", {})
    assert (contents.description, contents.readme) == ("", "")
    assert (contents.metadata, contents.problems) == ({}, ())


def test_a_long_description_is_cut_after_a_word() -> None:
    words = "word " * 100
    contents = read_rollout("maths", pyproject(f'[project]\ndescription = "{words}"\n'))
    assert contents.description == ("word " * 39) + "word…"
    one = read_rollout("maths", pyproject(f'[project]\ndescription = "{"x" * 300}"\n'))
    assert one.description == "x" * 199 + "…"


def test_broken_toml_names_file_and_line() -> None:
    contents = read_rollout("maths", pyproject('[project]\nname = "maths"\nversion 1\n'))
    assert contents.problems == (
        Problem(
            "toml-invalid",
            "error",
            f"{PYPROJECT} is not valid TOML: Expected '=' after a key in a key/value pair"
            " at line 3.",
            "Correct it and push again.",
            PYPROJECT,
            3,
        ),
    )
    assert contents.metadata == {}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ('[project]\nname = "a', [("toml-invalid", 2)]),
        ("a = 1\na = 2", [("toml-invalid", 2)]),
        (b"\n\n[project]\nname = '\xff'\n", [("file-not-utf8", 4)]),
        ("\ufeff[project]\n", [("toml-invalid", 1)]),
        ("a = " + "[" * 5_000, [("toml-too-deep", None)]),
        (".".join(["a"] * 40_000) + " = 1", [("toml-too-deep", None)]),
        ("a = " + "9" * 10_000, [("toml-invalid", None)]),
        ("a = 2026-99-99", [("toml-invalid", 1)]),
        ("#" * 300_000, [("file-too-large", None)]),
        ("project = 1", [("pyproject-wrong-type", None)]),
        ("[[project]]\nname = 1", [("pyproject-wrong-type", None)]),
        ("[other]\nname = 1\n[project]\n\n  name = 1", [("pyproject-wrong-type", 5)]),
        ("[project]\ndependencies = [1]", [("pyproject-wrong-type", 2)]),
        ("[project]\nlicense = 1", [("pyproject-wrong-type", 2)]),
        ("[project]\nkeywords = 'one'", [("pyproject-wrong-type", 2)]),
        ("[tool.uv]\nname = 1", []),
        ("", []),
    ],
)  # fmt: skip
def test_it_tells_what_is_wrong_with_a_project(
    text: str | bytes, problems: list[tuple[str, int | None]]
) -> None:
    assert problems_of(text) == problems


def test_one_wrong_value_leaves_the_others() -> None:
    contents = read_rollout("maths", pyproject('[project]\nname = "maths"\nversion = 1\n'))
    assert contents.metadata == {"name": "maths"}
    assert [p.sentence for p in contents.problems] == [
        f"{PYPROJECT}: project.version must be a text in quotes."
    ]


def test_files_that_were_too_large_are_told() -> None:
    contents = read_rollout("maths", {"pyproject.toml": None, "README.md": None})
    assert [(p.id, p.severity, p.path) for p in contents.problems] == [
        ("file-too-large", "error", PYPROJECT),
        ("readme-too-large", "warning", "rollouts/maths/README.md"),
    ]


def test_a_readme_that_is_not_utf_8_is_shown_as_far_as_it_can() -> None:
    contents = read_rollout(
        "maths", {"README.txt": b"\xef\xbb\xbfCaf\xe9\x00\x1b au lait.\r\n\tYes"}
    )
    assert contents.readme == "Caf\ufffd\ufffd\ufffd au lait.\n\tYes"
    assert [p.id for p in contents.problems] == ["readme-not-utf8"]


def test_a_long_readme_is_cut() -> None:
    assert len(read_rollout("maths", {"README": b"x" * 300_000}).readme) == 50_000


# Configs


def test_it_reads_a_config() -> None:
    contents = read_config(
        CONFIG,
        b'[experiment]\nrollout = "maths"\nentrypoint = "main.py"\nmodel_path = "m"\n'
        b'dataset = "d"\n[secrets]\nrequired = []\n[advanced]\nn = 1\nsince = 2026-05-01\n'
        b"at = 10:00:00\nmost = inf\nno = nan\nhuge = 0xffffffffffffffffffff\n",
    )
    assert (contents.kind, contents.rollout_name, contents.problems) == ("eval", "maths", ())
    assert contents.parsed == {
        "experiment": {
            "rollout": "maths",
            "entrypoint": "main.py",
            "model_path": "m",
            "dataset": "d",
        },
        "secrets": {"required": []},
        "advanced": {
            "n": 1,
            "since": "2026-05-01",
            "at": "10:00:00",
            "most": "inf",
            "no": "nan",
            "huge": "0xffffffffffffffffffff",
        },
    }


def test_the_folder_tells_the_kind() -> None:
    assert read_config("configs/training/x.toml", b"").kind == "training"
    assert read_config("configs/eval/configs/training/x.toml", b"").kind == "eval"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, ("file-too-large", None)),
        (b"[experiment\n", ("toml-invalid", 1)),
        (b"\xff", ("file-not-utf8", 1)),
        (b"", ("config-without-experiment", None)),
        (b"\n[experiment]\nmodel_path = 'x'\n", ("config-key-missing", 2)),
        (b"experiment = 5\n", ("config-wrong-type", None)),
    ],
)
def test_it_tells_what_is_wrong_with_a_config(
    content: bytes | None, problem: tuple[str, int | None]
) -> None:
    contents = read_config(CONFIG, content)
    assert (contents.problems[0].id, contents.problems[0].line) == problem
    assert contents.rollout_name == ""


def test_deep_values_are_cut_off() -> None:
    contents = read_config(CONFIG, ("a" + ".a" * 150 + " = 1").encode())
    deep: Any = contents.parsed
    for _level in range(20):
        deep = deep["a"]
    assert deep == "…"
