"""The metrics as Prometheus reads them: their names, labels and meanings are all here."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from rollouts_app import meters
from rollouts_app.metrics.facts import facts
from rollouts_app.models import Tally

PREFIX = "osmosis_"

# Budgets are given for an hour: what was seen before that says nothing any more.
BUDGET_LASTS = timedelta(hours=1)

# What the database tells, and its labels.
GAUGES: dict[str, tuple[str, list[str]]] = {
    "syncs_open": ("Syncs that wait (pending) or are at work (syncing).", ["state"]),
    "syncs_last_hour": ("Syncs that ended within the last hour, by how.", ["state"]),
    "sync_seconds_last_hour": (
        "How long successful syncs of the last hour took: the work alone, and all of it from the"
        " request on.",
        ["part", "quantile"],
    ),
    "jobs": ("Jobs in the queue: waiting for a worker, for a later time, or being done.", ["kind"]),
    "oldest_job_seconds": ("How long the oldest job has waited for a worker.", []),
    "workers": ("Workers that showed a sign of life within the last seconds.", []),
    "deliveries_last_hour": ("Webhook deliveries of the last hour, by outcome.", ["outcome"]),
    "repositories": ("Connected repositories, by what keeps them from being synced.", ["trouble"]),
    "database_bytes": ("Size of the database.", []),
}
# What processes note: the latest value counts.
NOTED: dict[str, tuple[str, list[str]]] = {
    "github_budget_limit": ("Requests an hour that GitHub grants.", ["of"]),
    "github_budget_remaining": ("Requests that were left when GitHub last answered.", ["of"]),
}
# What processes count, from when the database was made.
COUNTERS: dict[str, tuple[str, list[str]]] = {
    "responses": ("Answers to requests, by the page's name in the URL table.", ["page", "status"]),
    "github_calls": ("Calls of GitHub's API, by the status it answered.", ["answer"]),
}
HISTOGRAMS: dict[str, tuple[str, list[str]]] = {
    "page_seconds": ("Time to make an answer, by the page's name in the URL table.", ["page"]),
}

Kept = dict[tuple[str, tuple[str, ...]], float]


class OurCollector(Collector):
    """All metrics, from the database, at the time of asking."""

    def collect(self) -> Iterator[Metric]:
        kept = list(Tally.objects.fresh(BUDGET_LASTS).order_by("name", "pk"))
        told = ((fact.name, fact.labels, fact.value) for fact in facts())
        yield from _simple(GaugeMetricFamily, GAUGES, told)
        yield from _simple(GaugeMetricFamily, NOTED, _values(kept, NOTED))
        yield from _simple(CounterMetricFamily, COUNTERS, _values(kept, COUNTERS))
        yield from _histograms(kept)


def as_text() -> bytes:
    """https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format"""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(OurCollector())
    return generate_latest(registry)


Value = tuple[str, tuple[str, ...], float]
Family = type[GaugeMetricFamily] | type[CounterMetricFamily]


def _simple(
    family: Family, metrics: dict[str, tuple[str, list[str]]], values: Iterable[Value]
) -> Iterator[Metric]:
    """One family a metric, also of those that have no value yet."""
    families = {
        name: family(PREFIX + name, meaning, labels=labels)
        for name, (meaning, labels) in metrics.items()
    }
    for name, labels, value in values:
        families[name].add_metric(labels, value)
    yield from families.values()


def _values(kept: list[Tally], metrics: dict[str, tuple[str, list[str]]]) -> Iterator[Value]:
    for tally in kept:
        if tally.name in metrics:
            _, labels = metrics[tally.name]
            yield tally.name, tuple(tally.labels[label] for label in labels), tally.value


def _histograms(kept: list[Tally]) -> Iterator[Metric]:
    for name, (meaning, labels) in HISTOGRAMS.items():
        family = HistogramMetricFamily(PREFIX + name, meaning, labels=labels)
        sums = dict(_by_labels(kept, f"{name}_sum", labels))
        classes = dict(_by_labels(kept, f"{name}_bucket", [*labels, "le"]))
        for values, total in sums.items():
            family.add_metric(values, _cumulated(classes, values), total)
        yield family


def _by_labels(
    kept: list[Tally], name: str, labels: list[str]
) -> Iterator[tuple[tuple[str, ...], float]]:
    for tally in kept:
        if tally.name == name:
            yield tuple(tally.labels[label] for label in labels), tally.value


def _cumulated(
    classes: dict[tuple[str, ...], float], values: tuple[str, ...]
) -> list[tuple[str, float]]:
    """Each class together with those below it, as Prometheus wants them."""
    total = 0.0
    cumulated = []
    for end in [*map(str, meters.BUCKETS), meters.ENDLESS]:
        total += classes.get((*values, end), 0.0)
        cumulated.append((end, total))
    return cumulated
