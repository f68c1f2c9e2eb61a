"""The API's part about repositories, people, and GitHub itself."""

from .credentials import NOT_ACCESSIBLE, SUSPENDED, Refused, mind_policy
from .finding import find, moved, number_of
from .rest import NOT_FOUND, Call, api, counted_list, page
from .shapes import Json
from .web import Answer, Routes, json_answer

ROUTES = Routes()


@api(ROUTES, "GET", "/repos/{owner}/{name}")
@api(ROUTES, "GET", "/repositories/{number}")
def repository(call: Call, **names: str) -> Answer:
    """https://docs.github.com/en/rest/repos/repos#get-a-repository

    By its number it is undocumented, yet where a renamed repository's old address leads.
    """
    found = find(call, names)
    if isinstance(found, Answer):
        return found
    return json_answer(call.shapes.full_repository(found.record, found.permission))


@api(ROUTES, "GET", "/repos/{owner}/{name}/installation")
@api(ROUTES, "GET", "/repositories/{number}/installation")
def repository_installation(call: Call, **names: str) -> Answer:
    """https://docs.github.com/en/rest/apps/apps
    #get-a-repository-installation-for-the-authenticated-app
    """
    call.by_app()
    state, full_name = call.world.state, "/".join(names.values())
    by_number = state.repositories.get(number_of(names.get("number", "")))
    record = by_number or state.repository(full_name)
    former = record or state.repository_once(full_name)
    installation = state.installation_for(former) if former else None
    if former is None or installation is None:
        raise Refused(404, NOT_FOUND)
    if record is None:
        return moved(call, former, "/installation")
    return json_answer(call.shapes.installation(installation))


@api(ROUTES, "GET", "/repos/{owner}/{name}/collaborators/{login}/permission")
@api(ROUTES, "GET", "/repositories/{number}/collaborators/{login}/permission")
def permission(call: Call, login: str, **names: str) -> Answer:
    """https://docs.github.com/en/rest/collaborators/collaborators
    #get-repository-permissions-for-a-user
    """
    found = find(call, names, f"/collaborators/{login}/permission")
    if isinstance(found, Answer):
        return found
    person = call.world.account_named(login)
    return json_answer(
        call.shapes.collaborator(person, call.world.permission(person, found.record))
    )


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
        raise Refused(403, NOT_ACCESSIBLE)
    facts = {"primary": True, "verified": True, "visibility": "public"}
    return json_answer([{"email": person.email, **facts}] if person.email else [])


@api(ROUTES, "GET", "/user/installations")
def my_installations(call: Call) -> Answer:
    """https://docs.github.com/en/rest/apps/installations
    #list-app-installations-accessible-to-the-user-access-token
    """
    accounts = call.world.state.accounts
    seen = call.world.installations_seen_by(call.by_person())
    hidden = [i for i in seen if accounts[i.account_id].policy == "saml"]
    shapes = [call.shapes.installation(i) for i in seen if i not in hidden]
    answer = page(call, shapes, counted_list("installations", len(shapes)))
    if hidden:
        organizations = ",".join(str(installation.account_id) for installation in hidden)
        answer.headers["X-GitHub-SSO"] = f"partial-results; organizations={organizations}"
    return answer


@api(ROUTES, "GET", "/user/installations/{number}/repositories")
def my_repositories(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/apps/installations
    #list-repositories-accessible-to-the-user-access-token
    """
    person = call.by_person()
    seen = {i.id: i for i in call.world.installations_seen_by(person)}
    installation = seen.get(number_of(number))
    if installation is None:
        raise Refused(404, NOT_FOUND)
    if installation.suspended_at:
        raise Refused(403, SUSPENDED)
    mind_policy(call.world, call.world.state.accounts[installation.account_id], by_person=True)
    permitted = [
        (record, call.world.permission(person, record))
        for record in call.world.state.repositories_of(installation)
    ]
    shapes = [call.shapes.repository(record, may) for record, may in permitted if may]
    return page(call, shapes, counted_list("repositories", len(shapes)))


@api(ROUTES, "GET", "/user/{number}")
def user_by_number(call: Call, number: str) -> Answer:
    """https://docs.github.com/en/rest/users/users#get-a-user-using-their-id"""
    account = call.world.state.accounts.get(number_of(number))
    if account is None:
        raise Refused(404, NOT_FOUND)
    return json_answer(call.shapes.person(account))


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
    return json_answer({"verifiable_password_authentication": False})
