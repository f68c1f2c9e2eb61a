"""The App's OAuth credentials: whether GitHub takes them."""

import requests

from rollouts_app.addresses import is_loopback
from rollouts_app.errors import Unavailable

TIMEOUT = (5, 20)  # seconds: to connect, and between two bytes
# What GitHub answers to a code that is none, when client id and secret are right.
CODE_IS_BAD = "bad_verification_code"


def accepts_client(github_url: str, client_id: str, secret: str) -> bool:
    """Whether id and secret belong together, by exchanging a code that is none.

    Raises `Unavailable`.
    https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
    """
    with requests.Session() as session:
        # No proxy stands between two programs of one machine.
        session.trust_env = not is_loopback(github_url)
        try:
            answer = session.post(
                f"{github_url.rstrip('/')}/login/oauth/access_token",
                data={"client_id": client_id, "client_secret": secret, "code": "none"},
                headers={"Accept": "application/json"},
                timeout=TIMEOUT,
                allow_redirects=False,
            )
            return bool(answer.json().get("error") == CODE_IS_BAD)
        except (requests.RequestException, ValueError, AttributeError):
            raise Unavailable("GitHub could not be asked about it. Try again later.") from None
