"""Who is calling the API: the App by a JWT, an installation or a person by a token, or nobody.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt import PyJWT, PyJWTError

from .records import Account, Installation, Permission, Repository, Token
from .settings import World

LONGEST_JWT_SECONDS = 600
BAD = "Bad credentials"
NOT_DECODED = "A JSON web token could not be decoded"
SUSPENDED = "This installation has been suspended"
NOT_ACCESSIBLE = "Resource not accessible by integration"
ADDRESS_NOT_ALLOWED = (
    "Although you appear to have the correct authorization credentials, the `{}` organization has "
    "an IP allow list enabled, and your IP address is not permitted to access this resource."
)
SAML = (
    "Resource protected by organization SAML enforcement. You must grant your OAuth token access "
    "to this organization."
)


class Refused(Exception):
    """The API's answer to what it will not do: a status and GitHub's words."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


@dataclass(frozen=True)
class Caller:
    """Who is calling; all None for nobody."""

    token: Token | None = None
    installation: Installation | None = None
    person: Account | None = None
    is_app: bool = False

    @property
    def budget(self) -> str | None:
        """Whose hourly budget a call counts against."""
        if self.installation:
            return f"installation ID {self.installation.id}"
        if self.person:
            return f"user ID {self.person.id}"
        return "the App" if self.is_app else None


def identify(world: World, authorization: str) -> Caller:
    """The caller of an Authorization header. Raises Refused for credentials that are not good."""
    scheme, _, secret = authorization.partition(" ")
    if not authorization:
        return Caller()
    if scheme.lower() not in ("bearer", "token"):
        raise Refused(401, BAD)
    if secret.count(".") == 2 and not secret.startswith("ghs_"):
        verify_app(world, secret)
        return Caller(is_app=True)
    token = world.state.tokens.get(secret)
    if token is None or token.kind == "refresh" or token.expires_at <= world.clock():
        raise Refused(401, BAD)
    if token.kind == "user":
        return Caller(token, person=world.state.accounts[token.subject])
    installation = world.installation(token.subject)
    if installation.suspended_at:
        raise Refused(403, SUSPENDED)
    mind_policy(world, world.state.accounts[installation.account_id], by_person=False)
    return Caller(token, installation=installation)


def verify_app(world: World, secret: str) -> None:
    """Check the App's JWT: its signature, whose it is, and its times. Raises Refused."""
    app = world.app
    signature_only = PyJWT({"verify_exp": False, "verify_iat": False, "verify_nbf": False})
    try:
        claims = signature_only.decode(secret, _public_key(app.private_key), ["RS256"])
    except PyJWTError:
        raise Refused(401, NOT_DECODED) from None
    if str(claims.get("iss")) not in (str(app.id), app.client_id):
        raise Refused(401, "Integration not found")
    _check_times(claims.get("iat"), claims.get("exp"), world.clock())


@lru_cache(maxsize=8)
def _public_key(private_key: str) -> RSAPublicKey:
    """Reading a private key takes some 50 ms, as its primes are checked: once is enough."""
    return cast("RSAPrivateKey", load_pem_private_key(private_key.encode(), None)).public_key()


def _check_times(issued: object, expires: object, now: float) -> None:
    if not isinstance(issued, int) or issued > now:
        words = "'Issued at' claim ('iat') must be an Integer representing the time that the "
        raise Refused(401, words + "assertion was issued")
    if not isinstance(expires, int) or expires <= now:
        words = "'Expiration time' claim ('exp') must be a numeric value representing the future "
        raise Refused(401, words + "time at which the assertion expires")
    if expires > now + LONGEST_JWT_SECONDS:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")


def mind_policy(world: World, account: Account, *, by_person: bool) -> None:
    """Refuse what an account's policy forbids. SAML is for people alone.

    https://docs.github.com/en/apps/maintaining-github-apps/managing-allowed-ip-addresses-for-a-github-app
    https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#authenticating-with-saml-sso
    """
    if account.policy == "ip allow list":
        raise Refused(403, ADDRESS_NOT_ALLOWED.format(account.login))
    if account.policy == "saml" and by_person:
        page = f"{world.url}/orgs/{account.login}/sso?authorization_request=A"
        raise Refused(403, SAML, {"X-GitHub-SSO": f"required; url={page}"})


def permission_of(world: World, caller: Caller, repository: Repository) -> Permission | None:
    """What a caller may do with a repository; None when it must not even know of it."""
    public: Permission | None = None if repository.private else "read"
    if caller.token and caller.installation:
        reaches = world.token_reaches(caller.token, repository)
        contents = caller.token.permissions.get("contents", "read")
        return ("write" if contents == "write" else "read") if reaches else public
    if caller.person:
        installation = world.state.installation_for(repository)
        blocked = installation is None or installation.suspended_at is not None
        return public if blocked else world.permission(caller.person, repository)
    return public
