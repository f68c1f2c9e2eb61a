"""From files to facts: the rollouts and run configs of one commit, and what is wrong with them.

Pure: bytes in, values out; no database, no network, and nothing of a repository is ever run or
imported. What is broken becomes a `Problem` of its rollout or config, never an exception. All that
comes out can be stored in PostgreSQL: no NUL, no lone surrogates, only what JSON knows.
"""

from rollouts_app.catalog.configs import ConfigContents, combination_problems, read_config
from rollouts_app.catalog.entries import Entry, rollouts_in, wanted_configs, wanted_files
from rollouts_app.catalog.problems import Problem, Severity
from rollouts_app.catalog.rollouts import RolloutContents, read_rollout
from rollouts_app.catalog.text import json_safe, printable, storable

__all__ = [
    "ConfigContents",
    "Entry",
    "Problem",
    "RolloutContents",
    "Severity",
    "combination_problems",
    "json_safe",
    "printable",
    "read_config",
    "read_rollout",
    "rollouts_in",
    "storable",
    "wanted_configs",
    "wanted_files",
]
