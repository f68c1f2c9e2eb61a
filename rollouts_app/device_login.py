"""Signing a device in: it asks, somebody decides in a browser, it fetches its token once.

https://datatracker.ietf.org/doc/html/rfc8628
"""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils.timezone import now

from rollouts_app import audit, rates
from rollouts_app.models import CliToken, DeviceGrant, User
from rollouts_app.models.tokens import LOGIN_LASTS, new_grant, new_token
from rollouts_app.refusals import NotPossible

State = DeviceGrant.State

# Requests of one address, and wrong codes of one person, within five minutes.
MOST_REQUESTS, MOST_GUESSES = 30, 10
WINDOW_SECONDS = 300
# How long a request that is over can still be told from one that never was.
REMEMBERED = timedelta(days=1)
UNNAMED = "Unnamed device"


class TooOften(Exception):
    """Somebody asks more often than people do. The message is a sentence for them."""


class Refused(Exception):
    """A device gets no token, yet or at all. `error` is the word of RFC 8628 for why."""

    def __init__(self, error: str, reason: str) -> None:
        super().__init__(reason)
        self.error = error


def request(device_name: str, program: str, address: str | None) -> tuple[DeviceGrant, str]:
    """A new request, and the code by which the device asks after it. Raises `TooOften`."""
    if rates.note(f"device-{address}", WINDOW_SECONDS) > MOST_REQUESTS:
        raise TooOften("Too many sign-ins were begun from your address. Wait five minutes.")
    DeviceGrant.objects.filter(expires_at__lt=now() - REMEMBERED).delete()
    while True:
        grant, device_code = new_grant()
        grant.device_name = " ".join(device_name.split())[:255] or UNNAMED
        grant.program, grant.address = program[:100], address
        try:
            with transaction.atomic():
                grant.save()
        except IntegrityError:
            # The code is another's: once in billions.
            continue
        return grant, device_code


def find(user: User, code: str) -> DeviceGrant | None:
    """The request with a code that a person typed. Wrong ones are counted. Raises `TooOften`."""
    guesses = f"code-{user.pk}"
    if rates.count(guesses, WINDOW_SECONDS) >= MOST_GUESSES:
        raise TooOften("Too many wrong codes. Wait five minutes, then begin anew on the device.")
    grant = DeviceGrant.objects.with_user_code(code).select_related("user").first()
    # What others decided is none of this person's business.
    if grant is None or (grant.user_id not in {None, user.pk}):
        rates.note(guesses, WINDOW_SECONDS)
        return None
    return grant


def decide(user: User, grant: DeviceGrant, *, is_approved: bool) -> None:
    """Let the device in as this person, or not: once. Raises `NotPossible` when it is too late."""
    state = State.APPROVED if is_approved else State.DENIED
    waiting = DeviceGrant.objects.waiting().filter(pk=grant.pk)
    if not waiting.update(state=state, user=user):
        grant.refresh_from_db()
        if grant.user_id != user.pk or grant.state not in {state, State.USED}:
            raise NotPossible("That request was decided on, or has expired, in the meantime.")


def exchange(device_code: str) -> tuple[CliToken, str]:
    """The token of a device that was let in, once. Raises `Refused`."""
    with transaction.atomic():
        found = DeviceGrant.objects.with_device_code(device_code).select_for_update()
        grant = found.first()
        reason = _why_not(grant)
        if grant and reason is None:
            return _let_in(grant)
    raise reason or Refused("invalid_grant", "This server knows no such device code.")


def _why_not(grant: DeviceGrant | None) -> Refused | None:
    """Why there is no token; takes note of the look."""
    if grant is None or grant.state == State.USED:
        return Refused("invalid_grant", "This device code is unknown, or was used. Begin anew.")
    if grant.state == State.DENIED:
        return Refused("access_denied", "The request was denied in the browser.")
    if grant.has_expired:
        return Refused("expired_token", "The code has expired. Begin anew.")
    is_early = grant.poll()
    if grant.state == State.APPROVED:
        return None
    if is_early:
        return Refused("slow_down", f"Ask every {grant.interval} seconds at most.")
    return Refused("authorization_pending", "Nobody has decided in the browser yet.")


def _let_in(grant: DeviceGrant) -> tuple[CliToken, str]:
    user = grant.user
    if user is None or not user.is_active:
        raise Refused("access_denied", "Whoever let this device in has no account any more.")
    grant.state = State.USED
    grant.save(update_fields=["state"])
    key, token = new_token(user, grant.device_name, now() + LOGIN_LASTS)
    key.device = grant.device_name
    key.save()
    address, program = grant.address, grant.program
    audit.record(user, audit.Deed.MINTED_KEY, key.name, address=address, program=program)
    return key, token
