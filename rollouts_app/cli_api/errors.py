"""What goes wrong, as JSON, whichever part of the server it goes wrong in."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponse, HttpResponseBase

DOORS = "/api/"
JSON = "application/json"
PLAIN = "text/plain"

# A status → the code, and the sentence where none came with it.
WORDS = {
    400: ("BAD_REQUEST", "The request could not be understood. This server is {url}."),
    403: ("FORBIDDEN", "This is not allowed."),
    404: (
        "NOT_FOUND",
        "This server has no such address: docs/cli.md lists what it answers.",
    ),
    405: ("METHOD_NOT_ALLOWED", "This address takes {allow}."),
    413: ("TOO_LARGE", "The request is too large."),
    429: ("RATE_LIMITED", "Too many requests. Wait a minute, then try again."),
    500: (
        "SERVER_ERROR",
        "Something went wrong here. Whoever runs this server finds it in the log.",
    ),
    503: ("UNAVAILABLE", "This server is not ready. Try again in a minute."),
}
NEEDS_HTTPS = "This server is reached at {url}. Set OSMOSIS_PLATFORM_URL to that."


class CliError(Exception):
    """An answer that is no success. The message is a sentence that the command line prints.

    `error` replaces it where clients go by a fixed word (RFC 8628).
    """

    def __init__(self, status: int, code: str, message: str, error: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.error = status, code, error

    def answer(self) -> JsonResponse:
        """The response that tells of it."""
        return refusal(self.status, self.code, str(self), self.error)


def refusal(status: int, code: str, message: str, error: str = "") -> JsonResponse:
    """An error for all versions of the command line: some read `error`, some `message`."""
    body = {"error": error or message, "message": message, "code": code}
    response = JsonResponse(body, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


class JsonErrorsMiddleware:
    """Below /api/, turns the pages that tell people of errors, and redirects, into JSON."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_ours = request.path_info.startswith(DOORS)
        if not is_ours or response.status_code < 300 or _type_of(response) == JSON:
            return response
        return _as_json(response)


def _as_json(response: HttpResponseBase) -> JsonResponse:
    status = response.status_code
    if status < 400:
        # To TLS, mostly: a redirected POST would arrive as a GET.
        message = NEEDS_HTTPS.format(url=settings.PUBLIC_URL)
        return refusal(421, "WRONG_ADDRESS", message)
    code, sentence = WORDS.get(status, (HTTPStatus(status).name, HTTPStatus(status).phrase))
    allow = response.headers.get("Allow", "")
    sentence = sentence.format(url=settings.PUBLIC_URL, allow=allow)
    if isinstance(response, HttpResponse) and _type_of(response) == PLAIN:
        sentence = response.content.decode().strip() or sentence
    answer = refusal(status, code, sentence)
    for name in ("Allow", "Retry-After"):
        if name in response.headers:
            answer.headers[name] = response.headers[name]
    return answer


def _type_of(response: HttpResponseBase) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
