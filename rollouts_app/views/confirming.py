"""A question before a deed that cannot be taken back: a page, a dialog, and in it the form anew."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from rollouts_app.views.access import PersonRequest
from rollouts_app.views.fragments import page, part_asked, wants_part

# Where htmx puts an answer → the part that belongs there.
PARTS = {"confirm-form": "form"}


@dataclass(frozen=True)
class Question:
    """What is about to happen. `back` is the address of Cancel, `tab` the tab it belongs to.

    `typed` is what has to be typed as consent. With `refusal` it cannot happen, and why.
    """

    heading: str
    text: str
    button: str
    icon: str
    back: str
    tab: str = ""
    typed: str = ""
    refusal: str = ""
    is_danger: bool = True

    def is_answered(self, request: PersonRequest) -> bool:
        """Whether the form came in, with what had to be typed in it."""
        if request.method != "POST":
            return False
        typed: str = request.POST.get("typed", "").strip()
        return typed.casefold() == self.typed.casefold()


def ask(request: PersonRequest, question: Question) -> HttpResponse:
    """Put the question; once more, saying what is missing, when it was answered wrongly."""
    is_workspace = hasattr(request, "workspace")
    context = {
        "question": question,
        "layout": "workspace.html" if is_workspace else "base.html",
        "is_mistyped": request.method == "POST",
    }
    status = 422 if context["is_mistyped"] else 200
    return page(request, "confirm.html", context, part_asked(request, PARTS, "dialog"), status)


def nothing_to_do(request: PersonRequest, reason: str, address: str) -> HttpResponse:
    """A form that was sent twice, or late, ends on the page that shows how things stand."""
    if request.method != "POST":
        raise Http404
    messages.info(request, f"{reason} Nothing was changed.")
    return go(request, address)


def go(request: PersonRequest, address: str) -> HttpResponse:
    """On to a whole page, also from within a dialog."""
    return HttpResponseClientRedirect(address) if wants_part(request) else redirect(address)
