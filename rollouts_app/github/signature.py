"""Whether a webhook really comes from GitHub."""

import hashlib
import hmac

PREFIX = "sha256="


def is_genuine(body: bytes, header: str | None, secret: str | None) -> bool:
    """Whether `header` (X-Hub-Signature-256) is the signature of the raw `body` under `secret`.

    False when there is no header or no secret: a server without a secret trusts nobody.
    https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    """
    if not header or not secret:
        return False
    expected = PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # As bytes, since comparing strings refuses letters outside ASCII with an error.
    return hmac.compare_digest(expected.encode(), header.encode(errors="replace"))
