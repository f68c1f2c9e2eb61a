"""Sign-in with GitHub: who may come in, as whom, and what is kept of them."""

from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialLogin, SocialToken
from django.core.cache import cache
from django.test import Client, RequestFactory

from rollouts_app.accounts import user_token
from rollouts_app.models import User
from tests.github_emulator import GitHubEmulator
from tests.sign_in import address_at_github, sign_in

pytestmark = pytest.mark.django_db


def test_it_signs_a_newcomer_in(client: Client, github: GitHubEmulator) -> None:
    assert sign_in(client, github, "ada") == "/"
    user = User.objects.get()
    assert (user.github_login, user.name) == ("ada", "Ada Lovelace")
    assert user.github_id == github.account_named("ada").id
    assert not user.has_usable_password()


def test_it_knows_people_by_number_and_follows_their_names(
    client: Client, github: GitHubEmulator
) -> None:
    sign_in(client, github, "ada")
    github.rename_account("ada", "lovelace")
    sign_in(Client(), github, "lovelace")
    assert User.objects.get().github_login == "lovelace"


def test_it_gives_a_login_taken_over_a_new_account(client: Client, github: GitHubEmulator) -> None:
    sign_in(client, github, "ada")
    github.rename_account("ada", "lovelace")
    github.add_user("ada", name="Ada Somebody Else")
    sign_in(Client(), github, "ada")
    assert User.objects.count() == 2
    assert len({user.username for user in User.objects.all()}) == 2


def test_a_person_is_one_github_account(client: Client, github: GitHubEmulator) -> None:
    sign_in(client, github, "ada")
    assert sign_in(client, github, "mallory", "?process=connect") == "/account"
    [account] = SocialAccount.objects.all()
    assert account.uid == str(github.account_named("ada").id)


@pytest.mark.django_db(transaction=True)
def test_two_tabs_of_a_newcomer_are_one_person(github: GitHubEmulator) -> None:
    client = Client()
    sign_in(client, github, "ada")
    [account] = SocialAccount.objects.all()
    newcomer = SocialLogin(
        user=User(username="ada", github_id=account.user.github_id),
        account=SocialAccount(provider=account.provider, uid=account.uid),
    )
    assert get_adapter().save_user(RequestFactory().get("/"), newcomer) == account.user
    assert (User.objects.count(), SocialAccount.objects.count()) == (1, 1)


def test_it_proves_the_code_with_pkce_and_a_state(client: Client, github: GitHubEmulator) -> None:
    asked = parse_qs(urlsplit(address_at_github(client)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["state"][0]) >= 16


def test_it_refuses_a_state_that_is_not_the_browsers(
    client: Client, github: GitHubEmulator
) -> None:
    answer = client.get("/accounts/github/login/callback/?code=x&state=forged")
    assert answer.status_code == 401
    assert User.objects.count() == 0


def test_it_keeps_the_users_token_encrypted_and_not_in_the_database_of_accounts(
    client: Client, github: GitHubEmulator
) -> None:
    sign_in(client, github, "ada")
    user = User.objects.get()
    token = user_token(user)
    assert token is not None
    assert token.startswith("ghu_")
    assert token not in str(cache.get(f"user-token-{user.github_id}"))
    assert SocialToken.objects.count() == 0
    assert token not in str(SocialAccount.objects.get().extra_data)


def test_it_leads_back_to_the_page_asked_for(client: Client, github: GitHubEmulator) -> None:
    asked = client.get("/acme/rollouts?branch=feature%2Fx")
    assert asked.headers["Location"] == (
        "/accounts/login/?next=/acme/rollouts%3Fbranch%3Dfeature%252Fx"
    )
    landed = sign_in(client, github, "ada", "?next=/acme/rollouts%3Fbranch%3Dfeature%252Fx")
    assert landed == "/acme/rollouts?branch=feature%2Fx"


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https:evil.example", "https://evil.example/", "javascript:1"]
)
def test_it_leads_to_no_other_site(client: Client, github: GitHubEmulator, elsewhere: str) -> None:
    """U16"""
    assert sign_in(client, github, "ada", f"?next={elsewhere}") == "/"


def test_it_starts_a_new_session_at_sign_in(client: Client, github: GitHubEmulator) -> None:
    client.get("/")
    session = client.session
    session["planted"] = True
    session.save()
    before = session.session_key
    sign_in(client, github, "ada")
    assert client.session.session_key != before


def test_it_says_when_somebody_changes_their_mind(client: Client, github: GitHubEmulator) -> None:
    state = parse_qs(urlsplit(address_at_github(client)).query)["state"][0]
    answer = client.get(
        "/accounts/github/login/callback/", {"error": "access_denied", "state": state}
    )
    assert answer.headers["Location"] == "/accounts/3rdparty/login/cancelled/"


def test_it_survives_an_outage_of_github(client: Client, github: GitHubEmulator) -> None:
    github.trouble("/login/oauth/access_token", status=503)
    assert sign_in(client, github, "ada") == "401"
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "path",
    ["/accounts/signup/", "/accounts/password/reset/", "/accounts/password/change/"],
)
def test_it_has_no_local_accounts(client: Client, path: str) -> None:
    answers = [client.get(path), client.post(path, {"email": "a@b.example"})]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert User.objects.count() == 0
