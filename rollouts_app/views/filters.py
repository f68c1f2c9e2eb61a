"""What of the sync history an address asks for: `?branch= &q= &state= &trigger=`."""

from dataclasses import dataclass
from urllib.parse import urlencode

from rollouts_app.models import SyncRun
from rollouts_app.models.syncs import SyncRunQuerySet
from rollouts_app.views.access import WorkspaceRequest
from rollouts_app.views.asked import text_asked
from rollouts_app.views.history import TRIGGERS

# A state as the history shows it, and as a sentence says it of a sync.
STATES = {
    SyncRun.State.PENDING.value: ("Pending", "pending sync"),
    SyncRun.State.SYNCING.value: ("Syncing", "running sync"),
    SyncRun.State.SUCCESS.value: ("Success", "successful sync"),
    SyncRun.State.ISSUES.value: ("With issues", "sync with issues"),
    SyncRun.State.FAILED.value: ("Failed", "failed sync"),
    SyncRun.State.SUPERSEDED.value: ("Superseded", "superseded sync"),
    SyncRun.State.CANCELLED.value: ("Cancelled", "cancelled sync"),
}


@dataclass(frozen=True)
class Choice:
    """One value of a filter, as a menu offers it."""

    value: str
    label: str


STATE_CHOICES = [Choice(state, label) for state, (label, _) in STATES.items()]
TRIGGER_CHOICES = [Choice(trigger, words.label) for trigger, words in TRIGGERS.items()]


@dataclass(frozen=True)
class SyncFilters:
    """The filters that are set; those that are not are empty.

    `branch` is an exact name, `text` is searched for. `ignored` are sentences about values that
    mean nothing here.
    """

    branch: str
    text: str
    state: str
    trigger: str
    ignored: tuple[str, ...]

    def of(self, runs: SyncRunQuerySet) -> SyncRunQuerySet:
        """The runs that pass."""
        if self.branch:
            runs = runs.filter(branch__name=self.branch)
        if self.state:
            runs = runs.filter(state=self.state)
        if self.trigger:
            runs = runs.filter(trigger=self.trigger)
        return runs.matching(self.text)

    @property
    def set_values(self) -> dict[str, str]:
        """Those that are set, by their names in the address."""
        values = {
            "branch": self.branch,
            "q": self.text,
            "state": self.state,
            "trigger": self.trigger,
        }
        return {name: value for name, value in values.items() if value}

    @property
    def query(self) -> str:
        """The filters as part of one of our addresses, without empty ones."""
        return f"?{urlencode(self.set_values)}" if self.set_values else ""

    @property
    def labels(self) -> dict[str, str]:
        """What is set, in words, by its name in the address. The branch and the text have none."""
        return {
            "state": STATES[self.state][0] if self.state else "",
            "trigger": TRIGGERS[self.trigger].label if self.trigger else "",
        }

    @property
    def emptiness(self) -> str:
        """A sentence for when nothing passes."""
        words = [STATES[self.state][1] if self.state else "sync"]
        if self.branch:
            words.append(f"of {self.branch}")
        if self.trigger:
            words.append(TRIGGERS[self.trigger].of)
        what = " ".join(words)
        return f"No {what} matches “{self.text}”." if self.text else f"There is no {what}."


def filters_asked(request: WorkspaceRequest) -> SyncFilters:
    """The filters of the address. Values that mean nothing are left out, and named."""
    state, trigger = text_asked(request, "state"), text_asked(request, "trigger")
    ignored = []
    if state and state not in STATES:
        ignored.append(f"There is no status “{state}”: it is ignored.")
    if trigger and trigger not in TRIGGERS:
        ignored.append(f"There is no trigger “{trigger}”: it is ignored.")
    return SyncFilters(
        branch=text_asked(request, "branch"),
        text=text_asked(request, "q").strip(),
        state=state if state in STATES else "",
        trigger=trigger if trigger in TRIGGERS else "",
        ignored=tuple(ignored),
    )
