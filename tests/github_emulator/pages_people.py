"""Home, sign-in at the emulator itself, and the pages of people and organizations."""

import hashlib

from . import pages
from .markup import Html, element, link
from .records import Account, Repository
from .web import Answer, Request, Routes, path_of, redirect

ROUTES = Routes()
PROFILES = Routes()


@ROUTES.add("GET", "/")
def home(request: Request) -> Answer:
    """What there is."""
    state, app = request.world.state, request.world.app
    return pages.show(
        request,
        "Home",
        element(
            "p", pages.LABEL, "; it looks like GitHub to the server under test.", class_="note"
        ),
        _repositories(request, "Repositories", list(state.repositories.values())),
        _accounts("People and organizations", list(state.accounts.values())),
        element("p", "App: ", link(app.name, f"/apps/{app.slug}")),
    )


@ROUTES.add("GET", "/login")
def login(request: Request) -> Answer:
    """Choose who to be on the emulator's own pages."""
    state = request.world.state
    people = [account for account in state.accounts.values() if account.type == "User"]
    back = request.query.get("return_to", "/")
    return pages.show(
        request,
        "Sign in",
        element("h1", "Sign in to the emulator", class_="centre"),
        pages.person_buttons(people, "/login", {"return_to": back}),
        narrow=True,
    )


@ROUTES.add("POST", "/login")
def logged_in(request: Request) -> Answer:
    """Somebody was chosen: go back to where they came from."""
    person = request.world.account_named(request.fields.get("user", ""))
    back = request.fields.get("return_to", "/")
    is_local = back.startswith("/") and not back.startswith(("//", "/\\"))
    return redirect(back if is_local else "/", pages.remember(person))


@ROUTES.add("GET", "/settings/profile")
def profile(request: Request) -> Answer:
    """Who is signed in."""
    person = pages.person_of(request)
    if person is None:
        return pages.sign_in_first(request)
    return pages.show(
        request,
        "Your profile",
        element("h1", "Your profile"),
        _rows(
            "Public profile",
            [
                ["Name", person.name],
                ["Login", person.login],
                ["Public e-mail", person.email or "none"],
            ],
        ),
        element("p", link("Your installed Apps", "/settings/installations")),
        narrow=True,
    )


@ROUTES.add("GET", "/avatars/u/{number}")
def avatar(request: Request, number: str) -> Answer:
    """A picture: the first letter on a colour of its own."""
    account = request.world.state.accounts.get(int(number) if number.isdecimal() else 0)
    login = account.login if account else "?"
    hue = hashlib.sha256(login.encode()).digest()[0] * 360 // 256
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" fill="hsl({hue} 45% 45%)"/>'
        '<text x="32" y="43" font-family="sans-serif" font-size="32" fill="#fff" '
        f'text-anchor="middle">{pages.escaped(login[0].upper())}</text></svg>'
    )
    headers = {"Content-Type": "image/svg+xml", "Cache-Control": "max-age=60"}
    return Answer(200, picture.encode(), headers)


@PROFILES.add("GET", "/{login}")
def account_page(request: Request, login: str) -> Answer:
    """A person or an organization."""
    state = request.world.state
    account = state.account(login)
    if account is None:
        return pages.nothing_here(request, f"There is no account called {login}.")
    owned = [r for r in state.repositories.values() if r.owner_id == account.id]
    members = [state.accounts[number] for number in account.members]
    belongs = [other for other in state.accounts.values() if account.id in other.members]
    return pages.show(
        request,
        account.login,
        element("h1", account.name, " ", element("span", account.login, class_="muted")),
        element("p", account.email),
        _repositories(request, "Repositories", owned),
        _accounts("People", members) if members else None,
        _accounts("Organizations", belongs) if belongs else None,
    )


def _repositories(request: Request, title: str, repositories: list[Repository]) -> Html:
    rows = []
    for repository in repositories:
        full_name = request.world.state.full_name(repository)
        visibility = element("span", "Private" if repository.private else "Public", class_="tag")
        name = element("span", link(full_name, path_of(full_name)), " ", visibility, class_="rest")
        rows.append(element("div", name, class_="row"))
    return _box(title, rows or [element("div", "None yet.", class_="row muted")])


def _accounts(title: str, accounts: list[Account]) -> Html:
    rows = [
        element(
            "div",
            pages.face(account),
            element("span", link(account.name, path_of(account.login)), class_="rest"),
            element("span", account.type, class_="tag"),
            class_="row",
        )
        for account in accounts
    ]
    return _box(title, rows)


def _rows(title: str, facts: list[list[str]]) -> Html:
    rows = [
        element("div", element("span", name, class_="rest muted"), value, class_="row")
        for name, value in facts
    ]
    return _box(title, rows)


def _box(title: str, rows: list[Html]) -> Html:
    return element("section", element("div", title, class_="head"), *rows, class_="box")
