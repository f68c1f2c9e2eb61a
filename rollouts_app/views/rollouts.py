"""The Rollouts page, one rollout, and the freshness line of both."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from rollouts_app import commands
from rollouts_app.models import RolloutVersion
from rollouts_app.models.versions import RolloutVersionQuerySet, branches_holding
from rollouts_app.onboarding import cli_address
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import AskedBranch, branch_asked, repository_asked
from rollouts_app.views.contents import elsewhere, facts_of, files_of, readme_of
from rollouts_app.views.fragments import page, part_asked, wants_part
from rollouts_app.views.freshness import Freshness, freshness_of
from rollouts_app.views.listing import Listing, listing_asked
from rollouts_app.views.own_push import own_push
from rollouts_app.views.rows import config_rows, rows_of
from rollouts_app.views.twins import detailed, listed
from rollouts_app.views.unconnected import without_repository
from rollouts_app.views.versions import versions_of

if TYPE_CHECKING:
    from rollouts_app.models.versions import ComparedVersion

ROLLOUTS_A_PAGE = 50
NEAREST_NAMES = 5

# Freshness states of which more than the line tells.
STATES_OF_THE_PAGE = {"deleted", "waiting", "withheld"}

# Where htmx puts an answer → the part of the list that belongs there.
LIST_PARTS = {"results": "refreshed", "catalog": "switched"}


@require_safe
@workspace_page
def rollout_list(request: WorkspaceRequest) -> HttpResponse:
    """What a branch holds: `?branch= &q= &show= &sort= &page=`, the default one without a name."""
    repository = request.workspace.repository
    part = part_asked(request, LIST_PARTS, "switched")
    if repository is None:
        context = without_repository(request.workspace)
        return page(request, "rollouts/list.html", context, part, twin=listed)
    asked = branch_asked(request, repository)
    freshness = freshness_of(repository, asked.branch)
    listing = listing_asked(request, asked)
    pages = _pages(asked, listing, request.GET.get("page"))
    emptiness = "" if pages.object_list else _emptiness(asked, freshness, listing)
    context = {
        "repository": repository,
        "asked": asked,
        "freshness": freshness,
        # Who searches looks for something else, and has one query less to wait for.
        "own_push": None if listing.is_narrow else own_push(request.user, asked),
        "query": listing.text,
        "listing": listing,
        "pages": pages,
        "rows": rows_of(asked, list(pages)),
        "emptiness": emptiness,
        "nearest": _nearest(asked) if emptiness == "unknown" else [],
        "list_command": commands.list_command(asked.name, settings.GITHUB_URL),
        "cli_address": cli_address(settings.PUBLIC_URL),
    }
    status = 404 if emptiness == "unknown" else 200
    return page(request, "rollouts/list.html", context, part, status, twin=listed)


def _pages(asked: AskedBranch, listing: Listing, number: str | None) -> "Page[ComparedVersion]":
    """The page of the branch's rollouts that was asked for, or the nearest there is."""
    paginator = Paginator(listing.of(_held(asked)), ROLLOUTS_A_PAGE)
    if asked.branch and asked.branch.catalog and not listing.is_narrow:
        # The catalog knows how many it holds: a query less.
        paginator.count = asked.branch.catalog.rollout_count
    return paginator.get_page(number)


def _held(asked: AskedBranch) -> RolloutVersionQuerySet:
    """The versions that the branch shows."""
    return (
        RolloutVersion.objects.on(asked.branch) if asked.branch else RolloutVersion.objects.none()
    )


def _emptiness(asked: AskedBranch, freshness: Freshness, listing: Listing) -> str:
    """Why there is no rollout to show."""
    catalog = asked.branch.catalog if asked.branch else None
    if catalog is None:
        return _absence(asked, freshness)
    if not catalog.has_rollouts_directory:
        return "no-folder"
    return "no-match" if listing.is_narrow and catalog.rollout_count else "no-directories"


def _absence(asked: AskedBranch, freshness: Freshness) -> str:
    """Why there is no catalog of the branch."""
    if freshness.state == "reading" or (asked.branch and freshness.state == "syncing"):
        return freshness.state
    if freshness.state == "withheld":
        return freshness.state
    if not asked.is_default:
        return "unknown"
    is_kept_out = freshness.state in {"waiting", "blocked", "overdue"}
    return "trouble" if is_kept_out else "unpushed"


def _nearest(asked: AskedBranch) -> list[AskedBranch]:
    """The branches whose names are most like the one that is not there."""
    names = asked.repository.branches.existing().nearest(asked.name, NEAREST_NAMES)
    return [AskedBranch(asked.repository, name, None, None) for name in names]


@require_safe
@workspace_page
def rollout_detail(request: WorkspaceRequest, name: str) -> HttpResponse:
    """One rollout on a branch: description, README, configs, problems with their places."""
    asked = branch_asked(request, repository_asked(request))
    context = {
        "repository": asked.repository,
        "asked": asked,
        "name": name,
        "freshness": freshness_of(asked.repository, asked.branch),
    }
    named = _held(asked).defer(None).filter(rollout__name=name)
    version = named.compared_with(asked.default).first()
    if version is None:
        context["holding"] = branches_holding(asked.repository, name)[:NEAREST_NAMES]
        return page(request, "rollouts/missing.html", context, "rollout", 404, twin=detailed)
    [row] = rows_of(asked, [version]).rollouts
    context |= {
        "row": row,
        "configs": config_rows(asked, row.configs),
        "readme": readme_of(asked, version),
        "project": facts_of(version),
        "files": files_of(asked, version),
        "file_count": version.metadata.get("file-count", 0),
        "elsewhere": elsewhere(asked, version),
        "versions": versions_of(asked, version),
    }
    return page(request, "rollouts/detail.html", context, "rollout", twin=detailed)


@require_safe
@workspace_page
def sync_status(request: WorkspaceRequest) -> HttpResponse:
    """The freshness line alone; says `catalog-synced` when what is on the page is not true now.

    `?shown=` is the commit on the page, `?seen=` the line on it and `?told=` the push it tells of;
    a line that moves and says nothing new is not sent again.
    """
    asked = branch_asked(request, repository_asked(request))
    if not wants_part(request):
        return redirect(f"{reverse('rollout-list', args=[request.workspace.slug])}?{asked.query}")
    freshness = freshness_of(asked.repository, asked.branch)
    seen = request.GET.get("seen", "")
    told = request.GET.get("told")
    push = None if told is None else own_push(request.user, asked)
    has_pushed = push is not None and str(push.run.pk) != told
    if freshness.is_moving and freshness.seen == seen and not has_pushed:
        return HttpResponse(status=204)
    context = {
        "repository": asked.repository,
        "asked": asked,
        "freshness": freshness,
        "own_push": push,
    }
    response = page(request, "rollouts/freshness.html", context, "line")
    states = {seen.partition(" ")[0], freshness.state}
    has_turned = len(states) > 1 and bool(states & STATES_OF_THE_PAGE)
    if freshness.shown != request.GET.get("shown", "") or has_turned or has_pushed:
        trigger_client_event(response, "catalog-synced")
    return response
