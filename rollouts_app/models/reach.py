"""What nothing shows any more: contents that no branch, tombstone or sync of the history reaches.

True only while no sync of the repository runs: one writes contents before anything names them.
"""

from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet

from rollouts_app.models.branches import Branch
from rollouts_app.models.catalogs import Catalog
from rollouts_app.models.configs import ConfigVersion
from rollouts_app.models.syncs import SyncRun
from rollouts_app.models.versions import RolloutVersion


def unreached_catalogs(repository_id: int) -> QuerySet[Catalog, int]:
    """The ids of catalogs that no branch shows or keeps, and that no run had before or after."""
    branches = Branch.objects.filter(catalog=OuterRef("pk"))
    before = SyncRun.objects.filter(catalog_before=OuterRef("pk"))
    after = SyncRun.objects.filter(catalog_after=OuterRef("pk"))
    reached = Q(Exists(branches)) | Q(Exists(before)) | Q(Exists(after))
    found = Catalog.objects.filter(~reached, repository=repository_id)
    return found.values_list("pk", flat=True)


def unreached_versions(repository_id: int) -> QuerySet[RolloutVersion, int]:
    """The ids of rollout versions that no catalog of the repository holds."""
    known = RolloutVersion.objects.filter(rollout__repository=repository_id)
    # EXCEPT, as the arrays name a million ids where 5,000 branches hold 200 rollouts each.
    return known.values_list("pk", flat=True).difference(_held(repository_id, "versions"))


def unreached_configs(repository_id: int) -> QuerySet[ConfigVersion, int]:
    """The ids of config versions that no catalog of the repository holds."""
    known = ConfigVersion.objects.filter(repository=repository_id)
    return known.values_list("pk", flat=True).difference(_held(repository_id, "configs"))


def _held(repository_id: int, array: str) -> QuerySet[Catalog, int]:
    catalogs = Catalog.objects.filter(repository=repository_id)
    return catalogs.annotate(member=Func(F(array), function="unnest")).values_list(
        "member", flat=True
    )
