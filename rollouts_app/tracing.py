"""What the lines of the log have in common: the request, delivery, job, repository they are about.

    with bound(job=7, repository=3):
        log.info("…")           # every line in here carries both

The ids go along into threads that Django and the queue start for the same work.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from procrastinate.job_context import JobContext

_ids: ContextVar[Mapping[str, object]] = ContextVar("ids", default={})  # noqa: B039


def ids() -> Mapping[str, object]:
    """The ids that lines written now carry."""
    return _ids.get()


def bind(**more: object) -> None:
    """Add ids from here on, until the enclosing `bound` ends. What is None is not known."""
    _ids.set(_with(more))


@contextmanager
def bound(**more: object) -> Iterator[None]:
    """Add ids for the length of a block, and take off what was bound within it."""
    token = _ids.set(_with(more))
    try:
        yield
    finally:
        _ids.reset(token)


def traced_job(call_next: Callable[[], Any], context: JobContext, worker: object) -> Any:
    """Around each job: its number, and that of the repository it is about."""
    about = context.job.task_kwargs.get("repository_id")
    with bound(job=context.job.id, task=context.job.task_name, repository=about):
        return call_next()


def _with(more: Mapping[str, object]) -> Mapping[str, object]:
    return {**_ids.get(), **{name: value for name, value in more.items() if value is not None}}
