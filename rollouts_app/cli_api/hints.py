"""What the command line is to tell its user beside the answer."""

from shlex import quote

from django.http import JsonResponse

from rollouts_app.addresses import GITHUB_COM
from rollouts_app.cli_api.scope import Scope

RENAMED = "{old} is called {new} now. In your clone, run: git remote set-url origin {address}"


def with_hint(answer: JsonResponse, scope: Scope | None) -> JsonResponse:
    """The answer; to a clone that knows the repository by a former name, with what to run.

    The command line prints what comes with a version's status, once, as a warning.
    """
    if scope and scope.repository and scope.former_name:
        new = scope.repository.full_name
        address = quote(f"{GITHUB_COM}/{new}.git")
        answer.headers["X-Osmosis-Version-Status"] = "deprecated"
        answer.headers["X-Osmosis-Version-Message"] = RENAMED.format(
            old=scope.former_name, new=new, address=address
        )
    return answer
