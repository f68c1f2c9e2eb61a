"""Filters for pages."""

from django import template

register = template.Library()


@register.filter
def short_sha(sha: str) -> str:
    """The seven characters people know a commit by."""
    return sha[:7]
