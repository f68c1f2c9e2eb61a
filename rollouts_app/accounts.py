"""Sign-in with GitHub: allauth's adapters, and the user's token for connecting a repository."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect

from rollouts_app import audit, vault
from rollouts_app.models import User

# GitHub's user tokens last eight hours; connecting a repository takes minutes.
USER_TOKEN_SECONDS = 3600


class AccountAdapter(DefaultAccountAdapter):
    """There are no local accounts: everybody comes through GitHub."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def login(self, request: HttpRequest, user: User) -> None:
        with transaction.atomic():
            super().login(request, user)
            audit.record(user, audit.Deed.SIGNED_IN, by="GitHub")


class GitHubAdapter(DefaultSocialAccountAdapter):
    """Whoever GitHub vouches for gets an account, which follows the login's renames."""

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
        keep_user_token(sociallogin.account.uid, sociallogin.token.token)

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
