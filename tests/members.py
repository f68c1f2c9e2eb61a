"""What tests of members and invitations ask and do."""

from urllib.parse import urlsplit

from django.test import Client

from rollouts_app.models import Membership, User, Workspace
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of, text_of

MEMBERS = "/acme/members"
INVITE = f"{MEMBERS}/invite"
Role = Membership.Role


def join(workspace: Workspace, github: GitHubEmulator, login: str, role: str) -> Membership:
    """Somebody new in the workspace and in the organization, who has signed in before."""
    facts = github.add_user(login, name=login.capitalize())
    with github.changing():
        github.account_named("acme").members[facts.id] = "member"
    user = User.objects.create(username=login, github_id=facts.id, github_login=login)
    return Membership.objects.create(workspace=workspace, user=user, role=role)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def deed(membership: Membership, name: str) -> str:
    return f"{MEMBERS}/{membership.pk}/{name}"


def roles(workspace: Workspace) -> dict[str, str]:
    """Login → role of everybody."""
    people = workspace.memberships.order_by("pk")
    return dict(people.values_list("user__github_login", "role"))


def shown(page: Page, caption: str) -> list[list[str]]:
    """The cells of a table's lines, without the actions."""
    [table] = [each for each in page.all(".//table") if text_of(each[0]).startswith(caption)]
    return [[text_of(cell) for cell in row][:-1] for row in table.findall("tbody/tr")]


def menu_of(page: Page, membership: Membership) -> list[str]:
    """What may be done with somebody, as the menu has it."""
    menus = page.all(f".//*[@id='deeds-menu-{membership.pk}']")
    return [text_of(each) for menu in menus for each in menu.iter() if each.tag in {"a", "button"}]


def opened(user: User, address: str = MEMBERS) -> Page:
    return page_of(signed_in(user).get(address))


def make_link(client: Client, role: str = "member", **values: str) -> str:
    """Make an invitation link as one does on the page; the path it leads to."""
    answer = client.post(INVITE, {"how": "link", "role": role, **values}, follow=True)
    return urlsplit(page_of(answer).text(".//*[@id='invitation-link']")).path
