"""What the command line can ask for and this server does not have: said in one sentence."""

from typing import NoReturn

from django.http import HttpRequest

from rollouts_app.cli_api.access import open_door
from rollouts_app.cli_api.errors import WORDS, CliError

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
NOT_BUILT = "{feature} are not part of this server: it syncs rollouts from Git and lists them."
# The first part of an address → what lives there on the hosted platform.
FEATURES = {
    "datasets": "Datasets",
    "training-runs": "Training runs",
    "eval-runs": "Eval runs",
    "environment-secrets": "Environment secrets",
    "models": "Models",
    "benchmarks": "Benchmarks",
    "benchmark-runs": "Benchmark runs",
}


@open_door(*METHODS)
def elsewhere(request: HttpRequest, rest: str) -> NoReturn:
    """Every other address, whoever asks."""
    feature = FEATURES.get(rest.partition("/")[0])
    code, sentence = WORDS[404]
    raise CliError(404, code, NOT_BUILT.format(feature=feature) if feature else sentence)
