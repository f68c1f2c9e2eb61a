"""The sections and keys of run configs: what each may hold, and what holds without it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["eval", "training"]
COMMIT = re.compile(r"[0-9A-Fa-f]{7,40}")


@dataclass(frozen=True)
class Rule:
    """What a key may hold: in words, and whether a value is of it."""

    words: str
    fits: Callable[[Any], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


TEXT = Rule("a text in quotes", lambda value: isinstance(value, str) and value != "")
NUMBER = Rule("a number", _is_number)
WHOLE = Rule("a whole number", _is_whole)
POSITIVE = Rule("a whole number above 0", lambda value: _is_whole(value) and value > 0)

EXPERIMENT = {
    "rollout": TEXT,
    "entrypoint": TEXT,
    "model_path": TEXT,
    "dataset": TEXT,
    "branch": Rule(
        "a branch name in quotes, without spaces",
        lambda value: isinstance(value, str) and re.fullmatch(r"\S+", value) is not None,
    ),
    "commit_sha": Rule(
        "7 to 40 hexadecimal digits in quotes",
        lambda value: isinstance(value, str) and COMMIT.fullmatch(value) is not None,
    ),
}
NEEDED = ("rollout", "entrypoint", "model_path", "dataset")
SECONDS = {"agent_workflow_timeout_s": NUMBER, "grader_timeout_s": NUMBER}
SECTIONS: dict[Kind, dict[str, dict[str, Rule]]] = {
    "eval": {
        "evaluation": {
            "limit": WHOLE,
            "n": POSITIVE,
            "batch_size": WHOLE,
            "pass_threshold": NUMBER,
            **SECONDS,
        },
    },
    "training": {
        "training": {
            "lr": NUMBER,
            "total_epochs": WHOLE,
            "n_samples_per_prompt": WHOLE,
            "rollout_batch_size": WHOLE,
            "max_prompt_length": WHOLE,
            "max_response_length": WHOLE,
            **SECONDS,
        },
        "sampling": {"rollout_temperature": NUMBER, "rollout_top_p": NUMBER},
        "checkpoints": {"eval_interval": WHOLE, "checkpoint_save_freq": WHOLE},
    },
}
# What the platform takes where a config says nothing.
DEFAULTS: dict[str, dict[str, Any]] = {
    "evaluation": {
        "limit": "all rows",
        "n": 1,
        "batch_size": 1,
        "pass_threshold": 1.0,
        "agent_workflow_timeout_s": 450,
        "grader_timeout_s": 150,
    },
    "training": {
        "lr": 1e-5,
        "total_epochs": 1,
        "n_samples_per_prompt": 8,
        "rollout_batch_size": 32,
        "max_prompt_length": 8192,
        "max_response_length": 8192,
        "agent_workflow_timeout_s": 450,
        "grader_timeout_s": 150,
    },
    "sampling": {"rollout_temperature": 1.0, "rollout_top_p": 1.0},
    "checkpoints": {"eval_interval": 10, "checkpoint_save_freq": 20},
}
