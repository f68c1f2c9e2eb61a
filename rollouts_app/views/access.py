"""Who may open which door. The lookup is the permission: strangers find nothing."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.middleware import LoginRequiredMiddleware as DjangoLoginRequired
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django_htmx.http import HttpResponseClientRedirect

from rollouts_app import readers, tracing
from rollouts_app.api_keys import KeyRefused, key_of, memberships_of
from rollouts_app.checklist import Checklist, checklist_of
from rollouts_app.models import CliToken, Membership, Repository, User, Workspace, WorkspaceSlug
from rollouts_app.views.twins import failure, twin, wants_twin

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

PAGES_WITH_TWINS = {"rollout-list", "rollout-detail", "compare"}
SIGN_IN = "Sign in to see this, or send a token: Authorization: Bearer <token>."
KEPT_OUT = "GitHub does not say that you may read this workspace's repository."


class PersonRequest(HttpRequest):
    """A request of someone who is signed in; `key` is the token that says so, if one does."""

    user: User
    key: CliToken
    htmx: "HtmxDetails"


class WorkspaceRequest(PersonRequest):
    """A request by a member of the workspace in its address."""

    workspace: Workspace
    membership: Membership
    # All of the caller's, for the switcher: the same query finds them.
    memberships: list[Membership]
    # What the header tells: how far the first steps are, and the repository, to whom may read it.
    checklist: Checklist
    shown_repository: Repository | None


class LoginRequiredMiddleware(DjangoLoginRequired):
    """Closes every door that is not marked open; a part of a page leads back to the whole page.

    The twins of pages open to bearer tokens, too.
    """

    def process_view(  # type: ignore[override]
        self,
        request: PersonRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        if not request.user.is_authenticated and _shows_token(request):
            try:
                request.key = key_of(request.headers["Authorization"])
            except KeyRefused as refusal:
                answer = twin(failure(refusal.code, str(refusal)), 401)
                answer.headers["WWW-Authenticate"] = "Bearer"
                return answer
            request.user = request.key.user
        answer_of_others: HttpResponseBase | None = super().process_view(
            request, view_func, view_args, view_kwargs
        )
        return answer_of_others

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if wants_twin(request):
            return twin(failure("AUTH_REQUIRED", SIGN_IN), 401)
        htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
        if not htmx:
            return super().handle_no_permission(request, view_func)
        page = urlsplit(htmx.current_url_abs_path or "/")
        back = page._replace(scheme="", netloc="").geturl()
        query = urlencode({REDIRECT_FIELD_NAME: back})
        return HttpResponseClientRedirect(f"{resolve_url('account_login')}?{query}")


def _shows_token(request: HttpRequest) -> bool:
    """Whether a program asks for JSON that it may have by its token."""
    match = request.resolver_match
    has_twin = match is not None and match.view_name in PAGES_WITH_TWINS
    return has_twin and wants_twin(request) and "Authorization" in request.headers


def workspace_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page that shows what is stored of the workspace's repository: 404 for all but members.

    Members whom GitHub does not let read a private repository are told so instead.
    """
    return people_page(_for_readers(view))


def connection_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page for owners and admins that names the connected repository: not for whom GitHub does
    not let read it either.
    """
    return manager_page(_for_readers(view))


def _for_readers(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def wrapper(request: WorkspaceRequest, **kwargs: Any) -> HttpResponseBase:
        if request.workspace.repository and not request.shown_repository:
            return _kept_out(request)
        return view(request, **kwargs)

    return wrapper


def people_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page of the workspace itself, whatever GitHub says of its repository.

    Finds the workspace through the caller's membership: 404 for everyone else.
    """

    @wraps(view)
    def wrapper(request: WorkspaceRequest, workspace: str, **kwargs: Any) -> HttpResponseBase:
        request.memberships = _memberships(request)
        found = [each for each in request.memberships if each.workspace.slug == workspace]
        if not found:
            return _led_on(request, workspace)
        request.membership = found[0]
        request.workspace = request.membership.workspace
        request.checklist = checklist_of(request.membership)
        is_kept_out = readers.is_kept_out(request.membership)
        request.shown_repository = None if is_kept_out else request.workspace.repository
        _trace(request)
        if not hasattr(request, "key") and request.session.get("last_workspace") != workspace:
            request.session["last_workspace"] = workspace
        # All dates of the page.
        with timezone.override(request.workspace.zone):
            return view(request, **kwargs)

    return wrapper


def _memberships(request: WorkspaceRequest) -> list[Membership]:
    """Where the caller may go, with the repositories. One query."""
    if hasattr(request, "key"):
        return memberships_of(request.key)
    return request.user.memberships.order_by("workspace__slug").with_repositories()


def _trace(request: WorkspaceRequest) -> None:
    repository = request.workspace.repository
    tracing.bind(
        user=request.user.pk,
        workspace=request.workspace.pk,
        repository=repository and repository.pk,
    )


def _kept_out(request: WorkspaceRequest) -> HttpResponse:
    if wants_twin(request):
        return twin(failure("KEPT_OUT", KEPT_OUT), 403)
    context = {"is_refused": request.membership.may_read is False}
    return render(request, "kept_out.html", context, status=403)


def _led_on(request: WorkspaceRequest, slug: str) -> HttpResponse:
    """From an address with a workspace's former slug to the same one with that of today."""
    by_slug = {each.workspace_id: each.workspace.slug for each in request.memberships}
    former = WorkspaceSlug.objects.filter(slug=slug, workspace__in=by_slug).first()
    if former is None or request.resolver_match is None:
        raise Http404
    values = request.resolver_match.kwargs | {"workspace": by_slug[former.workspace_id]}
    address = reverse(request.resolver_match.view_name, kwargs=values)
    query = request.META["QUERY_STRING"]
    # Not for good: once the workspace is gone the slug may become another's.
    return HttpResponseRedirect(
        f"{address}?{query}" if query else address,
        preserve_request=request.method not in {"GET", "HEAD"},
    )


def manager_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A workspace page for owners and admins; members are told who may."""

    @wraps(view)
    def wrapper(request: WorkspaceRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.membership.may_manage_connection:
            raise PermissionDenied("Owners and admins manage this connection.")
        return view(request, **kwargs)

    return people_page(wrapper)


def owner_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A workspace page for its owners; the others are told who may."""

    @wraps(view)
    def wrapper(request: WorkspaceRequest, **kwargs: Any) -> HttpResponseBase:
        if request.membership.role != Membership.Role.OWNER:
            raise PermissionDenied("Only owners of this workspace may see this page.")
        return view(request, **kwargs)

    return people_page(wrapper)


def administrator_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page of the server for its administrators: 404 for everyone else."""

    @wraps(view)
    def wrapper(request: PersonRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_administrator:
            raise Http404
        return view(request, **kwargs)

    return wrapper


def safe_next(request: HttpRequest, fallback: str, *args: str) -> HttpResponse:
    """Redirect to the `next` that was asked for when it is ours, else to the page named."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = target.startswith("/") and url_has_allowed_host_and_scheme(
        target, allowed_hosts=None, require_https=request.is_secure()
    )
    return HttpResponseRedirect(target) if is_ours else redirect(fallback, *args)
