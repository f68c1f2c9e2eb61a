"""Tokens: of installations and of people, how they begin and how they end.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

import secrets
from typing import Literal

from . import payloads
from .asking import Asking
from .records import Repository, Token

INSTALLATION_TOKEN_SECONDS = 3600
USER_TOKEN_SECONDS = 8 * 3600
REFRESH_TOKEN_SECONDS = 15897600


class Tokens(Asking):
    """The App's tokens."""

    def token_for(
        self,
        installation_id: int,
        *,
        permissions: dict[str, str] | None = None,
        repository_ids: list[int] | None = None,
    ) -> str:
        """A token of the installation, valid for an hour; optionally for less than all it may do.

        GitHub's newer form `ghs_APPID_JWT` is several hundred characters long.
        """
        installation = self.installation(installation_id)
        looks_like_a_jwt = ".".join(secrets.token_urlsafe(size) for size in (27, 210, 256))
        token = Token(
            value=f"ghs_{self.app.id}_{looks_like_a_jwt}",
            kind="installation",
            subject=installation_id,
            expires_at=self.clock() + INSTALLATION_TOKEN_SECONDS,
            permissions=dict(installation.permissions if permissions is None else permissions),
            repository_ids=repository_ids,
        )
        return self.keep_token(token)

    def user_token(self, login: str) -> str:
        """A token by which the App acts as a person, valid for eight hours."""
        person = self.account_named(login)
        expires_at = self.clock() + USER_TOKEN_SECONDS
        value = f"ghu_{secrets.token_urlsafe(27)}"
        return self.keep_token(Token(value, "user", person.id, expires_at))

    def refresh_token(self, login: str) -> str:
        """What a new user token can be had for, once, within half a year."""
        person = self.account_named(login)
        expires_at = self.clock() + REFRESH_TOKEN_SECONDS
        value = f"ghr_{secrets.token_urlsafe(57)}"
        return self.keep_token(Token(value, "refresh", person.id, expires_at))

    def token_reaches(self, token: Token, repository: Repository) -> bool:
        """Whether an installation's token gives access to a repository."""
        installation = self.installation(token.subject)
        limited = token.repository_ids is not None and repository.id not in token.repository_ids
        return not limited and repository in self.state.repositories_of(installation)

    def keep_token(self, token: Token) -> str:
        """Remember a token; those long expired are forgotten."""
        now = self.clock()
        with self.changing() as state:
            fresh = {t.value: t for t in state.tokens.values() if t.expires_at > now}
            state.tokens = {**fresh, token.value: token}
        return token.value

    def expire_tokens(self, kind: Literal["installation", "user"] | None = None) -> None:
        """Let the tokens of a kind, or of both, run out now; refresh tokens stay good."""
        dead = {"installation", "user"} if kind is None else {kind}
        with self.changing() as state:
            state.tokens = {v: token for v, token in state.tokens.items() if token.kind not in dead}

    def revoke_token(self, value: str) -> None:
        """End one token before its time."""
        with self.changing() as state:
            state.tokens.pop(value, None)

    def revoke_authorization(self, login: str) -> None:
        """A person takes back what they let the App do for them; refresh tokens end, too."""
        person = self.account_named(login)
        with self.changing() as state:
            state.tokens = {
                value: token
                for value, token in state.tokens.items()
                if token.kind == "installation" or token.subject != person.id
            }
            body = payloads.authorization_revoked(self.shapes, person)
            self.announce("github_app_authorization", body)
