"""The frame of all pages, and who is looking at them."""

import html
from functools import cache
from pathlib import Path

from .markup import Child, Html, button, element, hidden, link, text, void
from .records import Account
from .web import Answer, Request, redirect, with_query

LABEL = "GitHub emulator: nothing here leaves this machine"
COOKIE = "github_emulator_person"


def show(
    request: Request, title: str, *content: Child, status: int = 200, narrow: bool = False
) -> Answer:
    """A whole page."""
    head = [
        Html('<meta charset="utf-8">'),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · GitHub emulator"),
        void("link", rel="icon", href="data:,"),
        element("style", style()),
    ]
    main = element("main", *content, class_="narrow" if narrow else None)
    body = element("html", element("head", *head), element("body", _bar(request), main), lang="en")
    headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}
    return Answer(status, f"<!doctype html>{body}".encode(errors="replace"), headers)


def refuse(request: Request, status: int, title: str, *content: Child) -> Answer:
    """A page that says why there is nothing to see, and what to do."""
    return show(request, title, element("h1", title), *content, status=status, narrow=True)


def nothing_here(request: Request, what: str) -> Answer:
    """The 404 page."""
    home = link("See what there is", "/")
    return refuse(request, 404, "Not found", element("p", what), element("p", home, "."))


def person_of(request: Request) -> Account | None:
    """Who is signed in at the emulator with this browser."""
    account = request.world.state.account(request.cookies.get(COOKIE, ""))
    return account if account and account.type == "User" else None


def remember(person: Account) -> str:
    """The cookie that signs a person in here. It protects nothing: anybody may be anyone."""
    return f"{COOKIE}={person.login}; Path=/; HttpOnly; SameSite=Lax"


def sign_in_first(request: Request) -> Answer:
    """Ask who it is, then come back."""
    here = with_query(request.path, request.query)
    return redirect(with_query("/login", {"return_to": here}))


def face(account: Account) -> Html:
    """A person's or organization's picture."""
    return void("img", src=f"/avatars/u/{account.id}", alt="", class_="face")


def person_buttons(people: list[Account], action: str, fields: dict[str, str]) -> Html:
    """A form with one "Continue as" button for each person, posting `user`."""
    choices = [
        button(
            [
                face(person),
                element(
                    "span",
                    element("strong", f"Continue as {person.name}"),
                    void("br"),
                    element("span", f"{person.login} · {person.email or 'e-mail hidden'}"),
                ),
            ],
            name="user",
            value=person.login,
            class_="wide",
        )
        for person in people
    ]
    extra = [hidden(name, value) for name, value in fields.items()]
    return element("form", *extra, *choices, method="post", action=action, class_="people")


@cache
def style() -> Html:
    """The style sheet."""
    return Html(Path(__file__).with_name("pages.css").read_text())


def _bar(request: Request) -> Html:
    person = person_of(request)
    here = with_query(request.path, request.query) if request.method == "GET" else "/"
    if request.path == "/login":
        here = request.query.get("return_to", "/")
    if person:
        who: Child = [
            link(person.name, "/settings/profile"),
            link("Switch", with_query("/login", {"return_to": here})),
        ]
    else:
        who = link("Sign in", with_query("/login", {"return_to": here}))
    mark = element("strong", link("◆ GitHub emulator", "/"))
    label = element("span", LABEL.partition(": ")[2].capitalize(), class_="label")
    return element("header", mark, label, who, class_="bar")


def moment(iso: str) -> Html:
    """A time of git, in the zone it was written in."""
    return element("time", f"{iso[:10]} {iso[11:16]} {iso[19:]}", datetime=iso)


def escaped(value: str) -> str:
    """Text for use in SVG and such."""
    return html.escape(value)


def joined(parts: list[Child], between: str = " · ") -> Html:
    """Parts with something between them."""
    return Html(html.escape(between).join(text(part) for part in parts))
