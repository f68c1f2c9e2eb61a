"""The App's page, and installing it: choose an account, choose repositories, go on to the App.

https://docs.github.com/en/apps/using-github-apps/installing-a-github-app-from-a-third-party
"""

from . import access_form, pages
from .markup import Html, button, element, hidden, link
from .records import Account
from .shapes import settings_path
from .web import Answer, Request, Routes, redirect, with_query

ROUTES = Routes()


@ROUTES.add("GET", "/apps/{slug}")
@ROUTES.add("GET", "/github-apps/{slug}")
def app_page(request: Request, slug: str) -> Answer:
    """The App, for the public."""
    app = request.world.app
    if slug != app.slug:
        return pages.nothing_here(request, f"There is no App called {slug}.")
    return pages.show(
        request,
        app.name,
        element("h1", app.name),
        access_form.permissions(app.permissions),
        element("p", link("Install", f"/apps/{app.slug}/installations/new")),
        narrow=True,
    )


@ROUTES.add("GET", "/apps/{slug}/installations/new")
@ROUTES.add("GET", "/github-apps/{slug}/installations/new")
@ROUTES.add("GET", "/apps/{slug}/installations/new/permissions")
@ROUTES.add("GET", "/apps/{slug}/installations/select_target")
def new(request: Request, slug: str) -> Answer:
    """Choose an account; once it is chosen (`target_id`), choose repositories."""
    person, app = pages.person_of(request), request.world.app
    if slug != app.slug:
        return pages.nothing_here(request, f"There is no App called {slug}.")
    if person is None:
        return pages.sign_in_first(request)
    account = _target(request, request.query)
    if account is None:
        return _choose_account(request, person)
    return _choose_repositories(request, person, account)


@ROUTES.add("POST", "/apps/{slug}/installations/new")
def install(request: Request, slug: str) -> Answer:
    """Install, or save other repositories, or ask an owner to; then go to the App's setup URL."""
    person, world = pages.person_of(request), request.world
    account = _target(request, request.fields)
    if person is None or account is None or slug != world.app.slug:
        return pages.nothing_here(request, "Begin at the App's page.")
    if not world.may_administer(person, account):
        world.request_installation(account.login, by=person.login)
        return _on_to_the_app(request, {"setup_action": "request"}, f"/apps/{slug}")
    choice = access_form.chosen(request)
    if not choice:
        return access_form.nothing_chosen(request)
    existing = world.installation_on(account)
    if existing:
        number, action = existing.id, "update"
        world.select_repositories(number, choice, by=person.login)
    else:
        number, action = (
            world.install(account.login, repositories=choice, by=person.login),
            "install",
        )
    settings = settings_path(account, world.installation(number))
    return _on_to_the_app(
        request, {"installation_id": str(number), "setup_action": action}, settings
    )


@ROUTES.add("POST", "/apps/{slug}/installations/cancel")
def cancel(request: Request, slug: str) -> Answer:
    """Who asked takes it back."""
    person, account = pages.person_of(request), _target(request, request.fields)
    asked = request.world.request_of(person, account) if person and account else None
    if asked:
        request.world.drop_request(asked.id)
    return redirect(f"/apps/{slug}/installations/new")


def _target(request: Request, fields: dict[str, str]) -> Account | None:
    number = fields.get("target_id", "")
    return request.world.state.accounts.get(int(number) if number.isdecimal() else 0)


def _on_to_the_app(request: Request, parameters: dict[str, str], otherwise: str) -> Answer:
    """To the setup URL with what happened and the caller's state; without one, stay here."""
    setup_url = request.world.app.setup_url
    if not setup_url:
        return redirect(otherwise)
    state = {"state": request.fields["state"]} if "state" in request.fields else {}
    return redirect(with_query(setup_url, {**parameters, **state}))


def _choose_account(request: Request, person: Account) -> Answer:
    world = request.world
    rows = []
    for account in world.state.accounts.values():
        if account.id != person.id and person.id not in account.members:
            continue
        label = "Configure" if world.installation_on(account) else "Install"
        if not world.may_administer(person, account):
            label = "Request"
        there = with_query(request.path, {**request.query, "target_id": str(account.id)})
        name = element("span", account.name, class_="rest")
        rows.append(element("div", pages.face(account), name, link(label, there), class_="row"))
    return pages.show(
        request,
        f"Install {world.app.name}",
        element("h1", f"Where do you want to install {world.app.name}?"),
        element("section", *rows, class_="box"),
        narrow=True,
    )


def _choose_repositories(request: Request, person: Account, account: Account) -> Answer:
    world, app = request.world, request.world.app
    action, fields = f"/apps/{app.slug}/installations/new", {"target_id": str(account.id)}
    if "state" in request.query:
        fields["state"] = request.query["state"]
    if world.may_administer(person, account):
        label = "Save" if world.installation_on(account) else "Install"
        what = [access_form.form(world, account, action, label, fields)]
    else:
        what = _asking(request, person, account, fields)
    title = f"Install {app.name} on {account.login}"
    permissions = access_form.permissions(app.permissions)
    return pages.show(request, title, element("h1", title), permissions, *what, narrow=True)


def _asking(
    request: Request, person: Account, account: Account, fields: dict[str, str]
) -> list[Html]:
    """What is left to those who do not own the account: ask, or take the question back."""
    world, app = request.world, request.world.app
    folder = f"/apps/{app.slug}/installations"
    kept = [hidden(name, value) for name, value in fields.items()]
    if world.request_of(person, account):
        words = "You have requested this App already. Cancel the request before submitting another."
        form = element(
            "form", *kept, button("Cancel request"), method="post", action=f"{folder}/cancel"
        )
        return [element("p", words), form]
    words = f"Only owners of {account.login} can install {app.name}. They can be asked to."
    form = element("form", *kept, button("Request"), method="post", action=f"{folder}/new")
    return [element("p", words), form]
