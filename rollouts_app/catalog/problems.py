"""What may be wrong with a rollout or a config."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """Something to mend; it informs and hides nothing. `dataclasses.asdict` makes JSON of it.

    `id` names the check, `sentence` says what is wrong, `remedy` what to do; `path` is the file
    from the repository's root, `line` counts from 1 and is None where no line is to blame. `count`
    is how many things it stands for, where they are too many to be told one by one. `rollout` is
    whose problem it is, where neither the rollout's contents nor a config's tell.
    """

    id: str
    severity: Severity
    sentence: str
    remedy: str
    path: str
    line: int | None = None
    count: int = 1
    rollout: str = ""
