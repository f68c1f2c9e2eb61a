"""Sign-in with GitHub: allauth's adapters, and the user's token for connecting a repository."""

import re
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect, render

from rollouts_app import audit, github_app, policy, setup_token, vault
from rollouts_app.models import User

# Where somebody who comes by an invitation's link goes after signing in.
INVITATION = re.compile(r"/invitations/(?P<token>[A-Za-z0-9_-]+)")
FIRST_ADMINISTRATOR = (
    "You look after this server from now on. Who else may sign in is set on the Server page, in "
    "your menu."
)
# GitHub's user tokens last eight hours; connecting a repository takes minutes.
USER_TOKEN_SECONDS = 3600


class AccountAdapter(DefaultAccountAdapter):
    """There are no local accounts: everybody comes through GitHub."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def login(self, request: HttpRequest, user: User) -> None:
        shown = request.session.get(setup_token.SHOWN, "")
        with transaction.atomic():
            super().login(request, user)
            audit.record(user, audit.Deed.SIGNED_IN, by="GitHub")
            if shown and setup_token.claim(shown, user):
                messages.success(request, FIRST_ADMINISTRATOR)


class GitHubAdapter(DefaultSocialAccountAdapter):
    """Whoever GitHub vouches for gets an account, which follows the login's renames."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Our GitHub App, wherever its credentials come from."""
        app = github_app.known()
        if app is None:
            return []
        return [SocialApp(provider="github", client_id=app.client_id, secret=app.client_secret)]

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        taken = User.objects.filter(email__iexact=sociallogin.user.email).exclude(email="")
        if taken.exists():
            # People are known by GitHub's number. An address may have changed hands there, or be
            # the same person's who comes in by another tab; allauth would ask for another one.
            sociallogin.user.email, sociallogin.email_addresses = "", []
        return True

    def populate_user(
        self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]
    ) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        copy_facts(user, sociallogin)
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            # A person is one GitHub account: with a second one, neither would be theirs for sure.
            raise ImmediateHttpResponse(redirect("account"))
        if sociallogin.is_existing:
            copy_facts(sociallogin.user, sociallogin)
            sociallogin.user.save(update_fields=["github_id", "github_login", "name"])
        self._check_policy(request, sociallogin)
        keep_user_token(sociallogin.account.uid, sociallogin.token.token)

    def _check_policy(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Let nobody in whom the administrators have not; whoever sets the server up comes in."""
        if setup_token.is_held(request.session):
            return
        user, login = sociallogin.user, sociallogin.account.extra_data["login"]
        invitation = INVITATION.fullmatch(sociallogin.state.get("next") or "")
        token = invitation["token"] if invitation else ""
        if not policy.may_sign_in(user, sociallogin.token.token, token):
            audit.record(
                user if user.pk else None,
                audit.Deed.WAS_REFUSED,
                f"sign-in of {login}",
                why="not invited",
            )
            page = render(request, "refused.html", {"login": login}, status=403)
            raise ImmediateHttpResponse(page)

    def save_user(
        self, request: HttpRequest, sociallogin: SocialLogin, form: Any | None = None
    ) -> User:
        try:
            with transaction.atomic():
                user: User = super().save_user(request, sociallogin, form)
        except IntegrityError:
            # The same person came in by another tab at the same moment.
            sociallogin.lookup()
            if not sociallogin.is_existing:
                raise
            user = sociallogin.user
        return user


def copy_facts(user: User, sociallogin: SocialLogin) -> None:
    """Take over what GitHub says of this person today."""
    facts = sociallogin.account.extra_data
    user.github_id = int(sociallogin.account.uid)
    user.github_login = facts["login"]
    user.name = (facts.get("name") or "")[:255]


def keep_user_token(github_id: str | int, token: str) -> None:
    """Keep the user's own token, encrypted, for an hour at most."""
    vault.keep(f"user-token-{github_id}", token, seconds=USER_TOKEN_SECONDS)


def forget_user_token(user: User) -> None:
    """Forget the user's own GitHub token before its hour is over."""
    vault.forget(f"user-token-{user.github_id}")


def user_token(user: User) -> str | None:
    """The user's own GitHub token, or None when signing in again is needed to get one."""
    return vault.recall(f"user-token-{user.github_id}")
