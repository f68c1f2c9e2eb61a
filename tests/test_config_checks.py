"""The rules of run configs: each broken by one change of a config that keeps them all."""

import pytest

from rollouts_app.catalog import Problem, combination_problems, read_config

EVAL = """\
[experiment]
rollout = "maths"
entrypoint = "main.py"
model_path = "openai/gpt-5-mini"
dataset = "maths"

[evaluation]
limit = 200
n = 1
batch_size = 1
pass_threshold = 0.5
agent_workflow_timeout_s = 450
grader_timeout_s = 150.5

[advanced]
whatever = { is = ["here"] }

[env]
LOG_LEVEL = "debug"
_X = ""

[secrets]
required = ["OPENAI_API_KEY"]
"""
TRAINING = """\
[experiment]
rollout = "maths"
entrypoint = "main.py"
model_path = "Qwen/Qwen3.6-35B-A3B"
dataset = "maths"
commit_sha = "0123abc"

[training]
lr = 1e-5
total_epochs = 1
n_samples_per_prompt = 8
rollout_batch_size = 32
max_prompt_length = 8192
max_response_length = 8192
agent_workflow_timeout_s = 450
grader_timeout_s = 150

[sampling]
rollout_temperature = 1
rollout_top_p = 0.9

[checkpoints]
eval_interval = 10
checkpoint_save_freq = 20
"""
PATHS = {"eval": "configs/eval/maths.toml", "training": "configs/training/maths.toml"}


def problems(kind: str, text: str) -> tuple[Problem, ...]:
    return read_config(PATHS[kind], text.encode()).problems


def test_it_has_nothing_against_configs_that_keep_the_rules() -> None:
    assert problems("eval", EVAL) == ()
    assert problems("training", TRAINING) == ()


@pytest.mark.parametrize(
    ("old", "new", "id", "line", "words", "remedy"),
    [
        ("[evaluation]", "[evaluaton]", "config-unknown-section", 7, "[evaluaton]", "[evaluation]"),
        ("[evaluation]", "[zzz]", "config-unknown-section", 7, "[zzz]", "Remove it."),
        ("[evaluation]", "[training]", "config-unknown-section", 7, "[training]", "Remove it."),
        ("limit = 200", "limt = 200", "config-unknown-key", 8, "limt", "Write limit."),
        ("limit = 200", "zzz = 200", "config-unknown-key", 8, "zzz", "move it to [advanced]"),
        ("limit = 200", "limit = 2.5", "config-wrong-type", 8, "a whole number", ""),
        ("limit = 200", "limit = true", "config-wrong-type", 8, "a whole number", ""),
        ("n = 1", "n = 0", "config-wrong-type", 9, "above 0", ""),
        ("0.5", '"0.5"', "config-wrong-type", 11, "evaluation.pass_threshold must be a number", ""),
        ('dataset = "maths"', "", "config-key-missing", 1, "does not say dataset", 'dataset = "…"'),
        ('"main.py"', "5", "config-wrong-type", 3, "experiment.entrypoint must be a text", ""),
        ('"main.py"', '""', "config-wrong-type", 3, "a text in quotes", ""),
        ('rollout = "maths"', 'rollout = "a/b"', "config-rollout-is-a-path", 2, "a/b", ""),
        ('rollout = "maths"', 'rollout = ".."', "config-rollout-is-a-path", 2, "..", ""),
        (
            'dataset = "maths"',
            'dataset = "x"\nbranch = "a b"',
            "config-wrong-type",
            6,
            "spaces",
            "",
        ),
        (
            'dataset = "maths"',
            'dataset = "x"\nbranch = "main"\ncommit_sha = "0123abc"',
            *("config-branch-and-commit", 7, "both a branch and a commit", "not both"),
        ),
        (
            'dataset = "maths"',
            'dataset="x"\ncommit_sha="012"',
            "config-wrong-type",
            6,
            "7 to 40",
            "",
        ),
        ("LOG_LEVEL", "log_level", "config-env-name", 19, "log_level", "capital letters"),
        ("LOG_LEVEL", "_OSMOSIS_X", "config-env-reserved", 19, "_OSMOSIS_", "another name"),
        ('"debug"', "1", "config-wrong-type", 19, "env.LOG_LEVEL must be a text", ""),
        (
            "[secrets]",
            "[advanced.s]",
            "config-without-secrets",
            None,
            "no [secrets]",
            "required = []",
        ),
        ("required = [", "needed = [", "config-unknown-key", 23, "needed", "Only required"),
        ('["OPENAI_API_KEY"]', '"X"', "config-wrong-type", 23, "a list of names", ""),
        ('["OPENAI_API_KEY"]', '["x"]', "config-secret-name", 23, "none may have: x", ""),
        ('["OPENAI_API_KEY"]', '["A", "A"]', "config-secret-name", 23, "A twice", ""),
        ('["OPENAI_API_KEY"]', '["LOG_LEVEL"]', "config-secret-name", 23, "[env] sets", ""),
    ],
)
def test_it_names_what_breaks_a_rule(
    old: str, new: str, id: str, line: int | None, words: str, remedy: str
) -> None:
    assert old in EVAL
    first = problems("eval", EVAL.replace(old, new, 1))[0]
    assert (first.id, first.severity, first.line, first.path) == (id, "error", line, PATHS["eval"])
    assert words in first.sentence
    assert remedy in first.remedy


def test_training_configs_need_no_secrets_and_have_sections_of_their_own() -> None:
    [problem] = problems("training", TRAINING + "[evaluation]\nn = 1\n")
    assert problem.id == "config-unknown-section"
    assert "training configs do not have: [evaluation]" in problem.sentence
    [problem] = problems("training", f"env = 5\n{TRAINING}")
    assert problem.sentence == f"{PATHS['training']}: [env] must be a table."
    [problem] = problems("training", TRAINING + "[secrets]\n")
    assert (problem.id, problem.sentence.endswith("must be a list of names in quotes.")) == (
        "config-wrong-type",
        True,
    )


def test_of_very_many_the_first_are_told() -> None:
    many = "".join(f"k{number} = 1\n" for number in range(3000))
    assert (
        len(problems("eval", f"{EVAL.replace('[evaluation]', '[evaluation]' + chr(10) + many)}"))
        == 20
    )


def test_it_tells_of_configs_whose_rollout_or_entrypoint_is_missing() -> None:
    """At the lines that name them."""
    texts = {
        PATHS["eval"]: EVAL,
        "configs/eval/b.toml": EVAL.replace('rollout = "maths"', 'rollout = "nothing"'),
        "configs/eval/c.toml": EVAL.replace('rollout = "maths"', ""),
        "configs/eval/d.toml": EVAL.replace('"main.py"', '"./src//run.py"'),
    }
    configs = {path: read_config(path, text.encode()) for path, text in texts.items()}
    assert {config.entrypoint for config in configs.values()} == {"main.py", "src/run.py"}
    assert combination_problems({"maths", "other"}, configs, ["configs/eval/d.toml"]) == (
        Problem(
            "config-names-missing-rollout",
            "error",
            "configs/eval/b.toml is for a rollout that is not there: rollouts/nothing.",
            "Correct the name in [experiment], or push the rollout's directory.",
            "configs/eval/b.toml",
            2,
        ),
        Problem(
            "config-entrypoint-missing",
            "error",
            "configs/eval/d.toml has an entrypoint that is no file: rollouts/maths/src/run.py.",
            "Correct entrypoint in [experiment], or push the file.",
            "configs/eval/d.toml",
            3,
            rollout="maths",
        ),
    )


@pytest.mark.parametrize("entrypoint", ["/etc/passwd", "../other/main.py", "a/../../b.py", ".."])
def test_an_entrypoint_lies_within_the_rollout(entrypoint: str) -> None:
    text = EVAL.replace('"main.py"', f'"{entrypoint}"')
    [problem] = problems("eval", text)
    assert (problem.id, problem.line) == ("config-entrypoint-outside", 3)
    assert problem.sentence.endswith(f"outside the rollout's directory: {entrypoint}.")
    assert read_config(PATHS["eval"], text.encode()).entrypoint == ""
