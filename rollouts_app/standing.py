"""How far a workspace without a repository has come: where GitHub shows somebody the App."""

from dataclasses import dataclass
from itertools import islice

from rollouts_app.connection import client_of
from rollouts_app.errors import Denied, GitHubError
from rollouts_app.models import User
from rollouts_app.refusals import SignInAgain

# Accounts that are named; more would not fit a sentence.
MOST_NAMED = 5
SIGN_IN_AGAIN = (
    "GitHub is asked in your own name where the App is installed, and what it allows ends an hour "
    "after you sign in."
)


@dataclass(frozen=True)
class Standing:
    """The accounts whose installation of the App the person reaches, and those where it is
    suspended. With a `problem` it could not be told.
    """

    accounts: tuple[str, ...] = ()
    suspended: tuple[str, ...] = ()
    problem: str = ""


def standing_of(user: User) -> Standing:
    """Where the person could choose a repository now. Asks GitHub in their name; never raises."""
    try:
        listed = list(islice(client_of(user).installations(), MOST_NAMED))
    except (SignInAgain, Denied):
        return Standing(problem=SIGN_IN_AGAIN)
    except GitHubError as error:
        return Standing(problem=str(error))
    return Standing(
        accounts=tuple(facts.account_login for facts in listed if not facts.is_suspended),
        suspended=tuple(facts.account_login for facts in listed if facts.is_suspended),
    )
