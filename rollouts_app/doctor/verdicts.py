"""All verdicts, in the order in which one mends."""

from rollouts_app.doctor import github_verdicts as github
from rollouts_app.doctor import server_verdicts as server
from rollouts_app.doctor.facts import Facts
from rollouts_app.doctor.lines import Line


def diagnose(facts: Facts) -> list[Line]:
    """A line for each thing looked at: good, or the cause and the fix. Pure."""
    return [
        server.public_url(facts),
        github.clock(facts),
        github.key(facts),
        *github.permissions(facts),
        *github.webhook(facts),
        *github.rates(facts),
        server.database(facts),
        server.workers(facts),
        server.git(facts),
        server.disk(facts),
    ]
