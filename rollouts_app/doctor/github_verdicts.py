"""Facts about the App at GitHub → lines. Pure."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

from rollouts_app.addresses import GITHUB_COM, app_page, is_loopback
from rollouts_app.doctor.facts import Facts
from rollouts_app.doctor.lines import Line, bad, good, warning
from rollouts_app.errors import Cause, Denied, GitHubError
from rollouts_app.github import DeliveryFacts
from rollouts_app.models import Installation

WEBHOOK_PATH = "/webhooks/github"
NEEDED_EVENTS = ("push", "create", "delete", "repository")
CLOCK_TOLERANCE = timedelta(seconds=30)
# What we answer to a delivery whose signature is not ours, and to one that is no JSON.
REFUSED_SIGNATURE, REFUSED_FORM = 401, 415
SET_JSON = "Choose application/json as the webhook's content type"
# The share of an hour's requests below which an account is worth a word.
LITTLE = 0.1


def clock(facts: Facts) -> Line:
    name = "Clock"
    if facts.ahead is None:
        return warning(name, "GitHub's time is not known.", "Mend the connection to GitHub first.")
    seconds = round(abs(facts.ahead.total_seconds()))
    if abs(facts.ahead) <= CLOCK_TOLERANCE:
        return good(name, f"Agrees with GitHub's within {seconds} s.")
    side = "fast" if facts.ahead > timedelta() else "slow"
    return bad(
        name,
        f"This server's clock is {seconds} s {side}. GitHub refuses what such a clock signs.",
        "Set it by NTP, for example with: timedatectl set-ntp true",
    )


def key(facts: Facts) -> Line:
    name = "Private key"
    if isinstance(facts.app, GitHubError):
        if facts.ahead is not None and abs(facts.ahead) > CLOCK_TOLERANCE:
            return warning(name, "Not known: GitHub refuses our clock.", "Set the clock first.")
        if isinstance(facts.app, Denied) and facts.app.cause == Cause.CREDENTIALS:
            return bad(
                name,
                str(facts.app),
                f"Make a new key on the App's page ({_app_page(facts)}), and set it "
                + _place(
                    facts, "as GITHUB_APP_PRIVATE_KEY, with the App's number as GITHUB_APP_ID."
                ),
            )
        return bad(
            name,
            f"GitHub could not be asked whether the key fits. {facts.app}",
            f"Check that this server reaches {facts.github_url} and its API.",
        )
    if facts.app.slug != facts.app_slug:
        return bad(
            name,
            f"It belongs to the App {facts.app.slug}, and this server's App is {facts.app_slug}.",
            "Set the App's name and key "
            + _place(facts, f"as GITHUB_APP_SLUG ({facts.app.slug}) and GITHUB_APP_PRIVATE_KEY."),
        )
    return good(name, f"Readable, and that of the App {facts.app.name} ({facts.app.id}).")


def permissions(facts: Facts) -> Iterator[Line]:
    name = "Permissions and events"
    if isinstance(facts.app, GitHubError):
        yield warning(name, "Not known: GitHub does not answer the App.", "Mend the lines above.")
        return
    needed = [each for each in Installation.NEEDED_PERMISSIONS if each not in facts.app.permissions]
    wanted = NEEDED_EVENTS if facts.has_webhook else ()
    events = [each for each in wanted if each not in facts.app.events]
    where = f"Add them to the App: {_app_page(facts)}, Permissions & events."
    if needed:
        yield bad(name, f"The App does not ask for: {', '.join(needed)}.", where)
    if events:
        yield bad(name, f"The App does not subscribe to: {', '.join(events)}.", where)
    if not needed and not events:
        yield good(name, "The App asks for all that it needs.")
    for place in facts.places:
        if place.is_usable and place.lacking:
            yield bad(
                f"Permissions on {place.account}",
                f"Not granted there: {', '.join(place.lacking)}.",
                f"An owner of {place.account} accepts them: {place.page}",
            )


def webhook(facts: Facts) -> Iterator[Line]:
    """Where GitHub delivers, what arrives, and the secret; or that the App does without."""
    if facts.has_webhook:
        yield _webhook_address(facts)
        yield _arrivals(facts)
        yield _webhook_secret(facts)
    elif facts.heard.refused or _latest_failure(facts):
        yield bad(
            "Webhook",
            "GitHub delivers, and this server knows no secret: nothing is taken in.",
            _set_secret(facts),
        )
    else:
        yield good("Webhook", "The App does without one: pushes are found by the timer.")


def _webhook_address(facts: Facts) -> Line:
    name, ours = "Webhook address", f"{facts.public_url}{WEBHOOK_PATH}"
    if isinstance(facts.hook, GitHubError):
        return warning(name, f"Not known. {facts.hook}", "Mend the lines above.")
    if not facts.hook.url:
        return warning(
            name,
            "The App has no webhook: pushes are found by the timer only.",
            f"If GitHub can reach this server, set {ours} on the App's page, {_app_page(facts)}.",
        )
    if facts.hook.url != ours:
        return bad(
            name,
            f"GitHub delivers to {facts.hook.url}, and this server's address is {ours}.",
            f"Set it on the App's page ({_app_page(facts)}), or correct PUBLIC_URL.",
        )
    if facts.github_url == GITHUB_COM and is_loopback(ours):
        return bad(
            name,
            f"GitHub delivers to {ours}, which is an address of this machine only.",
            "Set PUBLIC_URL to an address that GitHub can reach, or switch the webhook off.",
        )
    if facts.hook.content_type != "json":
        return bad(
            name,
            "GitHub sends forms, and this server reads JSON.",
            f"{SET_JSON} on the App's page ({_app_page(facts)}).",
        )
    return good(name, f"GitHub delivers to {ours}.")


def _arrivals(facts: Facts) -> Line:
    name, heard = "Deliveries", facts.heard
    failed = _latest_failure(facts)
    if failed and failed.status_code == REFUSED_FORM:
        return bad(
            name,
            f"GitHub's latest delivery ({failed.event}) was a form, and this server reads JSON.",
            f"{SET_JSON} on the App's page ({_app_page(facts)}).",
        )
    if failed and failed.status_code != REFUSED_SIGNATURE:
        said = f"answered {failed.status_code}" if failed.status_code else "was not reached"
        host = urlsplit(facts.public_url).netloc
        return bad(
            name,
            f"GitHub's latest delivery ({failed.event}) did not arrive: {host} {said}.",
            "See that the address is reachable from the internet, with a valid certificate.",
        )
    if heard.last is None:
        return warning(
            name,
            "None has ever arrived.",
            f"Push to a connected repository; {_app_page(facts)}, Advanced, shows what came back.",
        )
    ping = f", the last ping at {_at(heard.ping)}" if heard.ping else ""
    return good(name, f"The last one arrived at {_at(heard.last)}{ping}.")


def _webhook_secret(facts: Facts) -> Line:
    name, heard, set_it = "Webhook secret", facts.heard, _set_secret(facts)
    if heard.refused and heard.refused_since:
        return bad(
            name,
            f"Wrong: {heard.refused} deliveries were refused since {_at(heard.refused_since)}.",
            set_it,
        )
    failed = _latest_failure(facts)
    if failed and failed.status_code == REFUSED_SIGNATURE:
        return bad(name, "Wrong: GitHub's latest delivery was refused here.", set_it)
    if not isinstance(facts.hook, GitHubError) and facts.hook.url and not facts.hook.has_secret:
        return bad(name, "GitHub signs nothing: the App has no webhook secret.", set_it)
    if heard.last is None:
        return warning(name, "Not shown yet: nothing has arrived.", "Push something, look again.")
    return good(name, "The last delivery was signed with it.")


def _set_secret(facts: Facts) -> str:
    where = _place(facts, "as GITHUB_APP_WEBHOOK_SECRET.")
    return f"Set the same secret on the App's page and {where}"


def _latest_failure(facts: Facts) -> DeliveryFacts | None:
    """GitHub's latest attempt to deliver, if it failed."""
    if isinstance(facts.attempts, GitHubError) or not facts.attempts:
        return None
    return None if facts.attempts[0].has_arrived else facts.attempts[0]


def rates(facts: Facts) -> Iterator[Line]:
    for account, rate in facts.rates.items():
        name = f"Requests left for {account}"
        if isinstance(rate, GitHubError):
            yield warning(name, f"Not known. {rate}", "See Git Integration of its workspace.")
        elif rate.remaining < rate.limit * LITTLE:
            state = warning if rate.remaining else bad
            yield state(
                name,
                f"{rate.remaining} of {rate.limit}.",
                f"All are there again at {_at(rate.reset_at)}: nothing needs to be done.",
            )
        else:
            yield good(name, f"{rate.remaining} of {rate.limit}.")


def _place(facts: Facts, variables: str) -> str:
    """Where the App's credentials are set: in the environment, or on the page that made it."""
    return variables if facts.is_app_from_environment else "on the Server page."


def _app_page(facts: Facts) -> str:
    return app_page(facts.github_url, facts.app_slug)


def _at(moment: object) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
