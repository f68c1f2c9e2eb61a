"""The form by which an owner says which repositories the App may reach."""

from typing import Literal

from . import pages
from .markup import Html, button, element, hidden, void
from .records import Account
from .settings import World
from .web import Answer, Request


def form(world: World, account: Account, action: str, label: str, fields: dict[str, str]) -> Html:
    """All repositories of an account or those ticked, posted to `action` with more `fields`."""
    installed = world.installation_on(account)
    everything = installed is None or installed.selection == "all"
    chosen = world.state.repositories_of(installed) if installed and not everything else []
    boxes = [
        _tick("checkbox", "repository", name, name, checked=repository in chosen)
        for repository in world.state.repositories.values()
        if repository.owner_id == account.id
        for name in [world.state.full_name(repository)]
    ]
    return element(
        "form",
        *(hidden(name, value) for name, value in fields.items()),
        element("h2", "Repository access"),
        _tick("radio", "selection", "all", "All repositories", checked=everything),
        _tick("radio", "selection", "selected", "Only these repositories:", checked=not everything),
        element("div", boxes or "None yet.", class_="box pad"),
        button(label, class_="go"),
        method="post",
        action=action,
    )


def chosen(request: Request) -> list[str] | Literal["all"]:
    """What the form said: full names, or all; an empty list when nothing was ticked."""
    if request.fields.get("selection") == "all":
        return "all"
    return [value for name, value in request.form if name == "repository"]


def nothing_chosen(request: Request) -> Answer:
    """What to say to an empty choice."""
    words = "Choose at least one repository, or all of them. Go back and try again."
    return pages.refuse(request, 422, "No repository chosen", element("p", words))


def permissions(granted: dict[str, str]) -> Html:
    """What the App may do."""
    rows = [
        element("div", element("span", name.replace("_", " "), class_="rest"), level, class_="row")
        for name, level in granted.items()
    ]
    return element("section", element("div", "Permissions", class_="head"), *rows, class_="box")


def _tick(kind: str, name: str, value: str, label: str, *, checked: bool) -> Html:
    mark = void("input", type=kind, name=name, value=value, checked=checked)
    return element("label", mark, f" {label}")
