"""What of a branch's rollouts an address asks for: `?q= &show= &sort=`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from rollouts_app.models.versions import RolloutVersionQuerySet
from rollouts_app.views.access import WorkspaceRequest
from rollouts_app.views.asked import AskedBranch, text_asked

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from rollouts_app.models.versions import ComparedVersion

# A filter's value in the address → its name in the menu, and what a sentence says of it.
SHOWS = {
    "problems": ("With problems", "has problems"),
    "changed": ("Different from the default branch", "differs from the default branch"),
    "no-eval": ("Without eval config", "lacks an eval config"),
}
SORTS = {"name": "By name", "-name": "By name, backwards", "problems": "Most problems first"}
ORDERS = {
    "name": ["rollout__name"],
    "-name": ["-rollout__name"],
    "problems": ["-all_problems", "rollout__name"],
}


@dataclass(frozen=True)
class Choice:
    """One line of the menu: its words, its address, and whether it is the one in force."""

    words: str
    address: str
    is_current: bool


@dataclass(frozen=True)
class Listing:
    """Search, filter and order; what means nothing here reads as nothing."""

    asked: AskedBranch
    text: str
    show: str
    sort: str

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves rollouts out."""
        return bool(self.text or self.show)

    @property
    def filter_words(self) -> str:
        """What the filter asks for, as part of a sentence; empty without one."""
        return SHOWS[self.show][1] if self.show else ""

    @property
    def filter_name(self) -> str:
        return SHOWS[self.show][0] if self.show else ""

    def of(self, versions: RolloutVersionQuerySet) -> "QuerySet[ComparedVersion]":
        """The versions that pass, in their order, each compared with the default branch."""
        asked = self.asked
        found = versions.matching(self.text)
        if asked.branch and self.sort == "problems":
            found = found.with_all_problems(asked.branch)
        if self.show == "problems" and asked.branch:
            found = found.with_problems(asked.branch)
        elif self.show == "changed":
            found = found.not_on(asked.default)
        elif self.show == "no-eval" and asked.branch:
            found = found.without_eval(asked.branch)
        order = ORDERS[self.sort if asked.branch else "name"]
        return found.compared_with(asked.default).order_by(*order)

    @property
    def shows(self) -> list[Choice]:
        """The filters to choose from."""
        offered = [name for name in SHOWS if name != "changed" or not self.asked.is_default]
        return [
            Choice("All rollouts", self._address(show=""), not self.show),
            *(Choice(SHOWS[n][0], self._address(show=n), self.show == n) for n in offered),
        ]

    @property
    def sorts(self) -> list[Choice]:
        """The orders to choose from."""
        return [Choice(SORTS[n], self._address(sort=n), self.sort == n) for n in SORTS]

    def _address(self, **changes: str) -> str:
        values: dict[str, Any] = {
            "branch": self.asked.name,
            "q": self.text,
            "show": self.show,
            "sort": "" if self.sort == "name" else self.sort,
            **changes,
        }
        if values["sort"] == "name":
            values["sort"] = ""
        return f"?{urlencode({key: value for key, value in values.items() if value})}"


def listing_asked(request: WorkspaceRequest, asked: AskedBranch) -> Listing:
    """What the address asks for."""
    show, sort = request.GET.get("show", ""), request.GET.get("sort", "")
    return Listing(
        asked=asked,
        text=text_asked(request, "q").strip(),
        show=show if show in SHOWS else "",
        sort=sort if sort in SORTS else "name",
    )
