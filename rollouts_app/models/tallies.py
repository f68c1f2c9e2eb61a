"""What all processes of all machines have counted together."""

import json
from collections.abc import Mapping
from datetime import timedelta

from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Now

from rollouts_app.meters import Key, Readings

# In one order for all processes, which then wait for each other instead of locking each other out.
ADD = """
    INSERT INTO rollouts_app_tally AS kept (name, labels, is_sum, value, noted_at)
    SELECT name, labels::jsonb, %(is_sum)s, value, now()
    FROM unnest(%(names)s::text[], %(labels)s::text[], %(values)s::float8[])
        AS news (name, labels, value)
    ORDER BY name, labels
    ON CONFLICT (name, labels) DO UPDATE
    SET value = excluded.value + CASE WHEN excluded.is_sum THEN kept.value ELSE 0 END,
        noted_at = excluded.noted_at
"""


class TallyQuerySet(models.QuerySet["Tally"]):
    def add(self, readings: Readings) -> None:
        """Add one process's readings to those of all."""
        with connection.cursor() as cursor:
            for is_sum, numbers in ((True, readings.sums), (False, readings.latest)):
                if numbers:
                    cursor.execute(ADD, {"is_sum": is_sum, **_columns(numbers)})

    def fresh(self, lasts: timedelta) -> "TallyQuerySet":
        """All sums, and the values that were noted no longer ago than this."""
        return self.filter(Q(is_sum=True) | Q(noted_at__gte=Now() - lasts))


def _columns(numbers: Mapping[Key, float]) -> dict[str, list[str] | list[float]]:
    return {
        "names": [name for name, _ in numbers],
        "labels": [json.dumps(dict(labels)) for _, labels in numbers],
        "values": list(numbers.values()),
    }


class Tally(models.Model):
    """One number: a sum that only grows, or a value as it was last seen."""

    name = models.CharField(max_length=64)
    labels = models.JSONField()
    is_sum = models.BooleanField()
    value = models.FloatField()
    noted_at = models.DateTimeField()

    objects = TallyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "labels"], name="one_tally_per_name_and_labels")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.labels}: {self.value}"
