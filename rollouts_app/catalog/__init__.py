"""From files to facts: the rollouts and run configs of one commit, and what is wrong with them.

Pure: bytes in, values out; no database, no network, and nothing of a repository is ever run or
imported. What is broken becomes a `Problem` of its rollout or config, never an exception. All that
comes out can be stored in PostgreSQL: no NUL, no lone surrogates, only what JSON knows.
"""

from rollouts_app.catalog.configs import ConfigContents, combination_problems, read_config
from rollouts_app.catalog.entries import (
    Entry,
    Listing,
    WantedFiles,
    rollouts_in,
    wanted_configs,
    wanted_files,
)
from rollouts_app.catalog.oddities import (
    directory_in,
    is_tree,
    no_directory,
    too_many,
    too_wide,
    without_config,
)
from rollouts_app.catalog.parameters import DEFAULTS
from rollouts_app.catalog.problems import Problem, Severity
from rollouts_app.catalog.rollouts import RolloutContents, read_rollout
from rollouts_app.catalog.text import json_safe, printable, storable

# Which reading of files this is. Raise it when other contents or problems come out of the same
# files: what was stored by an earlier one is then read anew, by the next full check.
PARSER = 2

__all__ = [
    "DEFAULTS",
    "PARSER",
    "ConfigContents",
    "Entry",
    "Listing",
    "Problem",
    "RolloutContents",
    "Severity",
    "WantedFiles",
    "combination_problems",
    "directory_in",
    "is_tree",
    "json_safe",
    "no_directory",
    "printable",
    "read_config",
    "read_rollout",
    "rollouts_in",
    "storable",
    "too_many",
    "too_wide",
    "wanted_configs",
    "wanted_files",
    "without_config",
]
