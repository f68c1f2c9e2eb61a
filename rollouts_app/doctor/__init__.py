"""The connection doctor: what keeps this server and GitHub apart, and how to mend it.

`facts_now` asks, each question within a few seconds; `diagnose` judges, and `report` is the whole
in words that hold no secret.
"""

from rollouts_app.doctor.asking import facts_now, report
from rollouts_app.doctor.facts import Facts, Seen
from rollouts_app.doctor.lines import Line
from rollouts_app.doctor.verdicts import diagnose

__all__ = ["Facts", "Line", "Seen", "diagnose", "facts_now", "report"]
