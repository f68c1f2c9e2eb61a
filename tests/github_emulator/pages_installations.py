"""The settings of an installation, for those who own the account.

https://docs.github.com/en/apps/using-github-apps/reviewing-and-modifying-installed-github-apps
"""

from dataclasses import dataclass

from . import access_form, pages, pages_requests
from .core import UnknownName
from .markup import Html, button, element, link
from .records import Account, Installation
from .shapes import settings_path
from .web import Answer, Request, Routes, redirect

ROUTES = Routes()
PERSONAL = "/settings/installations"
OF_ORGANIZATION = "/organizations/{organization}/settings/installations"


@dataclass(frozen=True)
class Setting:
    """An installation, seen by somebody who may change it."""

    person: Account
    account: Account
    installation: Installation

    @property
    def path(self) -> str:
        """The address of its settings."""
        return settings_path(self.account, self.installation)


@ROUTES.add("GET", PERSONAL)
@ROUTES.add("GET", OF_ORGANIZATION)
def installed(request: Request, organization: str = "") -> Answer:
    """Where the App is installed, among the accounts one owns."""
    person, world = pages.person_of(request), request.world
    if person is None:
        return pages.sign_in_first(request)
    owned = [a for a in world.state.accounts.values() if world.may_administer(person, a)]
    rows = [
        element(
            "div",
            element("span", account.login, class_="rest"),
            link("Configure", settings_path(account, installation)),
            class_="row",
        )
        for account in owned
        if (installation := world.installation_on(account))
    ]
    asked = [pages_requests.waiting(request, account) for account in owned]
    return pages.show(
        request,
        "Installed Apps",
        element("h1", "Installed Apps"),
        element("section", *asked, class_="box") if any(asked) else None,
        element("section", rows or element("div", "None.", class_="row"), class_="box"),
        narrow=True,
    )


@ROUTES.add("GET", PERSONAL + "/{number}")
@ROUTES.add("GET", OF_ORGANIZATION + "/{number}")
@ROUTES.add("GET", PERSONAL + "/{number}/permissions/update")
@ROUTES.add("GET", OF_ORGANIZATION + "/{number}/permissions/update")
def settings(request: Request, number: str, organization: str = "") -> Answer:
    """An installation: its permissions and repositories, suspend and uninstall."""
    setting = _setting(request, number)
    if isinstance(setting, Answer):
        return setting
    world, account, installation = request.world, setting.account, setting.installation
    suspended = installation.suspended_at is not None
    verb, title = "unsuspend" if suspended else "suspend", f"{world.app.name} on {account.login}"
    asks_for_more = installation.permissions != world.app.permissions
    return pages.show(
        request,
        title,
        element("h1", title),
        element("p", "Suspended: the App has no access.", class_="note") if suspended else None,
        access_form.permissions(installation.permissions),
        _button(setting, "permissions", "Accept new permissions") if asks_for_more else None,
        access_form.form(world, account, f"{setting.path}/repositories", "Save", {}),
        element("h2", "Danger zone"),
        _button(setting, verb, f"{verb.capitalize()} the App"),
        _button(setting, "uninstall", "Uninstall the App"),
        narrow=True,
    )


@ROUTES.add("POST", PERSONAL + "/{number}/{verb}")
@ROUTES.add("POST", OF_ORGANIZATION + "/{number}/{verb}")
def change(request: Request, number: str, verb: str, organization: str = "") -> Answer:
    """Do what a button of the settings says."""
    setting = _setting(request, number)
    if isinstance(setting, Answer):
        return setting
    world, installation, by = request.world, setting.installation, setting.person.login
    verbs = {
        "suspend": world.suspend,
        "unsuspend": world.unsuspend,
        "uninstall": world.uninstall,
        "permissions": world.accept_permissions,
    }
    if verb == "repositories":
        choice = access_form.chosen(request)
        if not choice:
            return access_form.nothing_chosen(request)
        world.select_repositories(installation.id, choice, by=by)
    elif verb in verbs:
        verbs[verb](installation.id, by=by)
    return redirect(PERSONAL if verb == "uninstall" else setting.path)


def _setting(request: Request, number: str) -> Setting | Answer:
    """The settings asked for, or the page that says why not."""
    person, world = pages.person_of(request), request.world
    if person is None:
        return pages.sign_in_first(request)
    try:
        installation = world.installation(int(number) if number.isdecimal() else 0)
    except UnknownName as missing:
        return pages.nothing_here(request, str(missing))
    account = world.state.accounts[installation.account_id]
    if not world.may_administer(person, account):
        words = f"Only owners of {account.login} may see this. You are {person.name}."
        return pages.refuse(request, 403, "Not yours to change", element("p", words))
    return Setting(person, account, installation)


def _button(setting: Setting, verb: str, label: str) -> Html:
    action, kind = f"{setting.path}/{verb}", "go" if verb == "permissions" else "stop"
    return element("form", element("p", button(label, class_=kind)), method="post", action=action)
