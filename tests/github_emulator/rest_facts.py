"""The API's part about repositories, people, and GitHub itself."""

from .credentials import SUSPENDED, Refused, permission_of
from .records import Repository
from .rest import NOT_FOUND, ROOT, Call, api, counted_list, page
from .shapes import Json
from .web import Answer, Routes, json_answer

ROUTES = Routes()


@api(ROUTES, "GET", "/repos/{owner}/{name}")
def repository(call: Call, owner: str, name: str) -> Answer:
    """https://docs.github.com/en/rest/repos/repos#get-a-repository"""
    full_name = f"{owner}/{name}"
    record = call.world.state.repository(full_name)
    if record:
        return _repository(call, record)
    former = call.world.state.repository_once(full_name)
    if former is None or permission_of(call.world, call.caller, former) is None:
        raise Refused(404, NOT_FOUND)
    address = f"{call.world.url}{ROOT}/repositories/{former.id}"
    moved = {
        "message": "Moved Permanently",
        "url": address,
        "documentation_url": "https://docs.github.com/rest/guides/"
        "best-practices-for-using-the-rest-api#follow-redirects",
    }
    return json_answer(moved, 301, {"Location": address})


@api(ROUTES, "GET", "/repositories/{number}")
def repository_by_id(call: Call, number: str) -> Answer:
    """Undocumented, yet where a renamed repository's old address leads."""
    record = call.world.state.repositories.get(int(number) if number.isdecimal() else 0)
    if record is None:
        raise Refused(404, NOT_FOUND)
    return _repository(call, record)


@api(ROUTES, "GET", "/repos/{owner}/{name}/installation")
def repository_installation(call: Call, owner: str, name: str) -> Answer:
    """https://docs.github.com/en/rest/apps/apps
    #get-a-repository-installation-for-the-authenticated-app
    """
    call.by_app()
    record = call.world.repository_named(f"{owner}/{name}")
    installation = call.world.state.installation_for(record)
    if installation is None:
        raise Refused(404, NOT_FOUND)
    return json_answer(call.shapes.installation(installation))


@api(ROUTES, "GET", "/user")
def me(call: Call) -> Answer:
    """https://docs.github.com/en/rest/users/users#get-the-authenticated-user"""
    return json_answer(call.shapes.person(call.by_person()))


@api(ROUTES, "GET", "/user/emails")
def emails(call: Call) -> Answer:
    """https://docs.github.com/en/rest/users/emails
    #list-email-addresses-for-the-authenticated-user
    """
    person = call.by_person()
    if "email_addresses" not in call.world.app.permissions:
        raise Refused(403, "Resource not accessible by integration")
    facts = {"primary": True, "verified": True, "visibility": "public"}
    return json_answer([{"email": person.email, **facts}] if person.email else [])


@api(ROUTES, "GET", "/user/installations")
def my_installations(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/installations
    #list-app-installations-accessible-to-the-user-access-token
    """
    seen = call.world.installations_seen_by(call.by_person())
    shapes = [call.shapes.installation(installation) for installation in seen]
    return page(call, shapes, counted_list("installations", len(shapes)))


@api(ROUTES, "GET", "/user/installations/{number}/repositories")
def my_repositories(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/installations
    #list-repositories-accessible-to-the-user-access-token
    """
    person = call.by_person()
    seen = {i.id: i for i in call.world.installations_seen_by(person)}
    installation = seen.get(int(number) if number.isdecimal() else 0)
    if installation is None:
        raise Refused(404, NOT_FOUND)
    if installation.suspended_at:
        raise Refused(403, SUSPENDED)
    permitted = [
        (record, call.world.permission(person, record))
        for record in call.world.state.repositories_of(installation)
    ]
    shapes = [call.shapes.repository(record, may) for record, may in permitted if may]
    return page(call, shapes, counted_list("repositories", len(shapes)))


@api(ROUTES, "GET", "/users/{login}")
def user(call: Call, login: str) -> Answer:
    """https://docs.github.com/en/rest/users/users#get-a-user"""
    return json_answer(call.shapes.person(call.world.account_named(login)))


@api(ROUTES, "GET", "/rate_limit")
def rate_limit(call: Call) -> Answer:
    """https://docs.github.com/en/rest/rate-limit/rate-limit
    #get-rate-limit-status-for-the-authenticated-user
    """
    spent = call.world.budget.of(call.caller.budget, call.world.clock())
    core: Json = {
        "limit": spent.limit,
        "used": spent.used,
        "remaining": spent.remaining,
        "reset": spent.reset,
    }
    return json_answer({"resources": {"core": core, "search": core}, "rate": core})


@api(ROUTES, "GET", "/meta")
def meta(call: Call) -> Answer:
    """https://docs.github.com/en/rest/meta/meta#get-apiname-meta-information"""
    return json_answer(
        {"verifiable_password_authentication": False, "installed_version": "emulator"}
    )


def _repository(call: Call, record: Repository) -> Answer:
    permission = permission_of(call.world, call.caller, record)
    if permission is None:
        raise Refused(404, NOT_FOUND)
    return json_answer(call.shapes.full_repository(record, permission))
