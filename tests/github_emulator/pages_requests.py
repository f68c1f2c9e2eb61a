"""Where owners of an organization answer requests for the App.

https://docs.github.com/en/apps/using-github-apps/reviewing-github-app-installation-requests
"""

from . import access_form, pages
from .markup import Html, button, element, link
from .records import Account, InstallationRequest
from .shapes import settings_path
from .web import Answer, Request, Routes, redirect, with_query

ROUTES = Routes()
ONE = "/organizations/{organization}/settings/installations/requests/{number}"


def waiting(request: Request, account: Account) -> list[Html]:
    """A row for each request that waits for the owners of an account."""
    accounts = request.world.state.accounts
    return [
        element(
            "div",
            element("span", f"{accounts[r.requester_id].login} requests the App", class_="rest"),
            link("Review request", _path(account, r)),
            class_="row",
        )
        for r in request.world.requests_to(account)
    ]


@ROUTES.add("GET", ONE)
def review(request: Request, organization: str, number: str) -> Answer:
    """Who asks, and the form to install the App, or to refuse."""
    found = _found(request, number)
    if isinstance(found, Answer):
        return found
    asked, account = found
    world, path = request.world, _path(account, asked)
    title = f"{world.app.name} on {account.login}"
    who = world.state.accounts[asked.requester_id].login
    refusal = element(
        "form", button("Deny request", class_="stop"), method="post", action=f"{path}/deny"
    )
    return pages.show(
        request,
        title,
        element("h1", title),
        element("p", f"Requested by {who}."),
        access_form.permissions(world.app.permissions),
        access_form.form(world, account, path, "Approve and install", {}),
        refusal,
        narrow=True,
    )


@ROUTES.add("POST", ONE)
def approve(request: Request, organization: str, number: str) -> Answer:
    """Install the App, and send the owner on to its setup URL: with no state of anybody's."""
    found = _found(request, number)
    if isinstance(found, Answer):
        return found
    asked, account = found
    person, world = pages.person_of(request), request.world
    choice = access_form.chosen(request)
    if not choice:
        return access_form.nothing_chosen(request)
    installed = world.approve_request(
        asked.id, repositories=choice, by=person.login if person else None
    )
    if not world.app.setup_url:
        return redirect(settings_path(account, world.installation(installed)))
    parameters = {"installation_id": str(installed), "setup_action": "install"}
    return redirect(with_query(world.app.setup_url, parameters))


@ROUTES.add("POST", ONE + "/deny")
def deny(request: Request, organization: str, number: str) -> Answer:
    """Refuse."""
    found = _found(request, number)
    if isinstance(found, Answer):
        return found
    asked, account = found
    request.world.drop_request(asked.id)
    return redirect(f"/organizations/{account.login}/settings/installations")


def _path(account: Account, asked: InstallationRequest) -> str:
    return f"/organizations/{account.login}/settings/installations/requests/{asked.id}"


def _found(request: Request, number: str) -> tuple[InstallationRequest, Account] | Answer:
    """The request, for those who may answer it; else the page that says why not."""
    person, world = pages.person_of(request), request.world
    if person is None:
        return pages.sign_in_first(request)
    asked = world.state.requests.get(int(number) if number.isdecimal() else 0)
    if asked is None:
        return pages.nothing_here(request, "That request was answered or taken back.")
    account = world.state.accounts[asked.account_id]
    if not world.may_administer(person, account):
        words = f"Only owners of {account.login} may see this. You are {person.name}."
        return pages.refuse(request, 403, "Not yours to change", element("p", words))
    return asked, account
