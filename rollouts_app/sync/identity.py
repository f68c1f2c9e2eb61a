"""Where a repository is, and who may read it for us: by GitHub's number, which outlives names.

Names, owners, default branches and installations change without our hearing of it. `follow` brings
ours up to date; `find_again` learns, after a refusal, why it came or where the repository is now.
"""

from contextlib import suppress
from itertools import islice

from rollouts_app.errors import Cause, Denied, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts
from rollouts_app.models import Installation, Repository
from rollouts_app.sync.clients import app_client, client_for, token_for
from rollouts_app.sync.installations import lacking_permissions, store_installation

Trouble = Repository.Trouble

TROUBLES = {
    Cause.POLICY: Trouble.POLICY,
    Cause.PERMISSION: Trouble.PERMISSION,
}
# Installations that are asked, one by one, whether they reach a repository that was lost.
MOST_TRIED = 20


class Blocked(Exception):
    """GitHub keeps us from the repository until somebody changes that. The message says why.

    `trouble` is one of `Repository.Trouble`.
    """

    def __init__(self, trouble: str, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


def blocked_by(repository: Repository, refusal: Denied | Gone) -> Blocked:
    """What a refusal means where nothing more can be learnt."""
    if isinstance(refusal, Denied):
        return Blocked(TROUBLES.get(refusal.cause, Trouble.DENIED), str(refusal))
    is_told = repository.trouble in Repository.ABSENCES
    return Blocked(repository.trouble if is_told else Trouble.GONE, str(refusal))


def follow(repository: Repository) -> None:
    """Bring name, owner, default branch and visibility up to what GitHub says of the number.

    Raises Blocked where the App does not reach it, though everybody may read it, and GitHub's
    errors.
    """
    facts = client_for(repository.installation).repository_by_id(repository.github_id)
    if not repository.installation.is_usable:
        # It let us read, so what we were told of it is no longer true.
        number = repository.installation.github_id
        repository.installation = store_installation(app_client().installation(number))
    is_moved = facts.owner_id != repository.installation.account_id
    if is_moved or not facts.private:
        _confirm_reach(repository, facts, Trouble.MOVED if is_moved else Trouble.REMOVED)
    if not is_moved and facts.owner_login != repository.installation.account_login:
        repository.installation.rename(facts.owner_login)
    repository.learn(
        full_name=facts.full_name,
        default_branch=facts.default_branch or repository.default_branch,
        is_private=facts.private,
        is_archived=facts.archived,
    )


def find_again(repository: Repository) -> None:
    """After a refusal: bring up to date what may have caused it.

    Returns where another try is worthwhile, with a new token kept. Raises Blocked where it is not,
    RateLimited and Unavailable.
    """
    try:
        facts = app_client().installation(repository.installation.github_id)
    except Denied as refusal:
        raise Blocked(Trouble.APP, str(refusal)) from refusal
    except Gone as refusal:
        repository.installation.note_removal()
        return _find_elsewhere(repository, refusal)
    repository.installation = store_installation(facts)
    _check_permissions(facts)
    try:
        token_for(repository.installation, renew=True)
        follow(repository)
    except Gone as refusal:
        _find_elsewhere(repository, refusal)
    except Denied as refusal:
        if refusal.cause != Cause.SUSPENDED:
            raise blocked_by(repository, refusal) from refusal
        # Then it does not tell us either that the repository was moved.
        _find_elsewhere(repository, refusal)


def _confirm_reach(repository: Repository, facts: RepositoryFacts, trouble: Trouble) -> None:
    """Go on by the installation that reaches the repository today: it may have been transferred.

    That we can read it says nothing where everybody can: without the App there GitHub announces
    no pushes. `trouble` is what it means that there is none.
    """
    try:
        found = app_client().repository_installation(facts.full_name)
    except Gone as refusal:
        repository.learn(full_name=facts.full_name)
        raise Blocked(trouble, str(refusal)) from refusal
    if found.id != repository.installation.github_id:
        _adopt(repository, found)


def _find_elsewhere(repository: Repository, refusal: Denied | Gone) -> None:
    """Look for another installation on the repository's owner: it was moved, or the App was
    installed anew. A repository of the same name and another number is not the one, and that an
    installation can read it says nothing where everybody can."""
    others = (
        facts
        for facts in app_client().installations()
        if facts.id != repository.installation.github_id and not facts.is_suspended
    )
    for facts in islice(others, MOST_TRIED):
        with suppress(Gone, Denied):
            found = client_for(store_installation(facts)).repository_by_id(repository.github_id)
            if found.owner_id == facts.account_id:
                _adopt(repository, facts)
                return follow(repository)
    raise blocked_by(repository, refusal) from refusal


def _adopt(repository: Repository, found: InstallationFacts) -> None:
    """Let the repository be read by this installation from now on."""
    installation: Installation = store_installation(found)
    repository.learn(installation=installation)


def _check_permissions(facts: InstallationFacts) -> None:
    """Raises Blocked where the account has not granted what Git Sync needs."""
    lacking = lacking_permissions(facts.permissions)
    if not lacking:
        return
    asked_for = lacking_permissions(app_client().app().permissions)
    names = " and ".join(lacking)
    if asked_for:
        raise Blocked(
            Trouble.PERMISSION,
            f"The GitHub App does not ask for the permission to read {names}: its settings on "
            "GitHub must ask for it, and the account must then accept it.",
        )
    raise Blocked(
        Trouble.PERMISSION,
        f"{facts.account_login} has not accepted the permission to read {names}, which the App "
        "asks for.",
    )
