"""What tests of a connection's end and return ask and do."""

import threading
from collections.abc import Callable

from django.apps import apps
from django.db import connections
from django.test import Client

from rollouts_app.connection import tie_repository
from rollouts_app.models import Repository
from rollouts_app.sync.clients import client_for
from tests.onboarding import messages_of
from tests.pages import page_of

HOME = "/acme/integrations/git"


def address(repository: Repository, action: str) -> str:
    return f"{HOME}/repositories/{repository.pk}/{action}"


def rows() -> dict[str, int]:
    """How many rows each table of ours has, of those that have any."""
    models = apps.get_app_config("rollouts_app").get_models()
    counts = {model.__name__: model._default_manager.count() for model in models}
    return {name: count for name, count in counts.items() if count}


def rows_of(repository: Repository) -> int:
    """How many rows there are of the repository, itself among them."""
    pk = repository.pk
    count = 0
    for model in apps.get_app_config("rollouts_app").get_models():
        names = {field.name for field in model._meta.get_fields()}
        path = next((path for path in ("repository", "rollout") if path in names), "")
        if path:
            found = {path if path == "repository" else "rollout__repository": pk}
            count += model._default_manager.filter(**found).count()
    return count + Repository.objects.filter(pk=pk).count()


def press(client: Client, path: str, **values: str) -> list[str]:
    """Send a form, and read what the page it leads to says of it."""
    return messages_of(page_of(client.post(path, values, follow=True)))


def tie(repository: Repository) -> Repository:
    """Connect it to its workspace, as GitHub tells of it now."""
    facts = client_for(repository.installation).repository(repository.full_name)
    return tie_repository(repository.workspace, repository.installation, facts)


def in_another_thread(work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread
