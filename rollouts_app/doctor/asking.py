"""The doctor's questions: to the database here, to GitHub and this machine all at once.

Whoever gives no answer in time is left to itself: the page never hangs.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import islice
from threading import Thread
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Max
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateWorker

from osmosis_web import __version__
from rollouts_app import github_app
from rollouts_app.doctor.facts import Disk, Facts, Heard, Place, Queue, Seen
from rollouts_app.doctor.lines import Line
from rollouts_app.errors import GitHubError, Unavailable
from rollouts_app.github import AppClient, InstallationClient, RateFacts, api_url
from rollouts_app.models import Installation, Repository, WebhookDelivery
from rollouts_app.sync import hearing
from rollouts_app.sync.clients import app_client, shelf, shelf_folder
from rollouts_app.sync.installations import lacking_permissions

PATIENCE_SECONDS = 5.0
ATTEMPTS_READ = 10
# Accounts whose budget is asked for; on a server of many, the first ones show whether it is tight.
MOST_ACCOUNTS = 5
WAITING = """
SELECT count(*), min(coalesce(job.scheduled_at, told.at)) FROM procrastinate_jobs job
LEFT JOIN LATERAL (
    SELECT max(at) AS at FROM procrastinate_events WHERE job_id = job.id
) told ON true
WHERE job.status = 'todo' AND coalesce(job.scheduled_at, now()) <= now()
"""

Question = Callable[[], Any]


def facts_now(seen: Seen | None) -> Facts:
    """Everything, within little more than PATIENCE_SECONDS. `seen` is None on a terminal."""
    app, client = github_app.credentials(), app_client()
    connected = Repository.objects.connected().values("installation")
    installations = list(Installation.objects.filter(pk__in=connected).order_by("account_login"))
    usable = [each for each in installations if each.is_usable][:MOST_ACCOUNTS]
    answers = ask_all(
        {
            "app": client.app,
            "hook": app_client().hook,
            "attempts": _attempts(app_client()),
            "git": _git_version,
            "disk": _disk,
            **{str(each.pk): _rate(app_client(), each.github_id) for each in usable},
        },
        PATIENCE_SECONDS,
    )
    version, took = _database()
    return Facts(
        now=now(),
        public_url=settings.PUBLIC_URL,
        github_url=settings.GITHUB_URL,
        app_id=app.app_id,
        app_slug=app.slug,
        is_app_from_environment=app.is_from_environment,
        has_webhook=app.has_webhook,
        trusted_proxies=settings.TRUSTED_PROXY_COUNT,
        seen=seen,
        app=answers["app"],
        hook=answers["hook"],
        attempts=answers["attempts"],
        ahead=client.ahead,
        heard=_heard(),
        places=tuple(_place(each) for each in installations),
        rates={each.account_login: answers[str(each.pk)] for each in usable},
        database_version=version,
        database_took=took,
        queue=_queue(),
        git=answers["git"],
        disk=answers["disk"],
    )


def ask_all(questions: Mapping[str, Question], seconds: float) -> dict[str, Any]:
    """The answer to each question, or the error that stands for it, within so many seconds.

    Each is asked in a thread of its own that uses no database and ends by its own time limits;
    one that is late does not keep the process from ending.
    """
    answers: dict[str, Any] = {}

    def ask(name: str, question: Question) -> None:
        try:
            answers[name] = question()
        except GitHubError as error:
            answers[name] = error

    threads = [
        Thread(target=ask, args=each, daemon=True, name=f"doctor-{each[0]}")
        for each in questions.items()
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    late = Unavailable(f"There was no answer within {seconds:g} s.")
    return {name: answers.get(name, late) for name in questions}


def report(lines: list[Line]) -> str:
    """The lines as text for a colleague or an issue, without any secret of this server."""
    text = "\n".join(
        [f"Osmosis Web {__version__}, connection doctor, {now():%Y-%m-%d %H:%M:%S} UTC"]
        + [f"[{each.state}] {each.name}: {each.text} {each.fix}".rstrip() for each in lines]
    )
    database = str(settings.DATABASES["default"].get("PASSWORD") or "")
    secrets = [
        *(settings.SECRET_KEY, *github_app.credentials().secrets),
        *(*settings.ENCRYPTION_KEYS, settings.EMAIL_HOST_PASSWORD, database),
    ]
    for secret in filter(None, secrets):
        text = text.replace(secret, "<removed>")
    return text


def _attempts(client: AppClient) -> Question:
    return lambda: tuple(islice(client.deliveries(), ATTEMPTS_READ))


def _rate(client: AppClient, installation: int) -> Question:
    def ask() -> RateFacts:
        token = client.installation_token(installation).token
        return InstallationClient(api_url(settings.GITHUB_URL), token).rate()

    return ask


def _place(installation: Installation) -> Place:
    return Place(
        account=installation.account_login,
        lacking=tuple(lacking_permissions(installation.permissions)),
        page=installation.permissions_page,
        is_usable=installation.is_usable,
    )


def _heard() -> Heard:
    received = WebhookDelivery.objects.received()
    refused = hearing.refused()
    return Heard(
        last=received.aggregate(at=Max("received_at"))["at"],
        ping=received.filter(event="ping").aggregate(at=Max("received_at"))["at"],
        refused=refused.count if refused else 0,
        refused_since=refused.since if refused else None,
    )


def _database() -> tuple[int, timedelta]:
    with connection.cursor() as cursor:
        begun = time.monotonic()
        cursor.execute("SELECT current_setting('server_version_num')::int")
        [version] = cursor.fetchone() or [0]
        return version, timedelta(seconds=time.monotonic() - begun)


def _queue() -> Queue:
    beats = ProcrastinateWorker.objects.values_list("last_heartbeat", flat=True)
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        waiting, oldest = cursor.fetchone() or (0, None)
    return Queue(heartbeats=tuple(beats), waiting=waiting, oldest=oldest)


def _git_version() -> str:
    git = shutil.which("git")
    if git is None:
        raise Unavailable("The git command is missing on this server.")
    try:
        ended = subprocess.run(
            [git, "--version"], capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"git cannot be run: {type(error).__name__}.") from error
    return ended.stdout.strip()


def _disk() -> Disk:
    folder = shelf_folder()
    there = folder if folder.is_dir() else settings.DATA_DIR
    try:
        return Disk(shelf().size(), settings.GIT_CACHE_BYTES, shutil.disk_usage(there).free)
    except OSError as error:
        raise Unavailable(f"{there} cannot be looked at: {error.strerror}.") from error
