"""Rows from what was read, in bulk: COPY for contents, one UPDATE for all branches of a chunk."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection, models, transaction
from django.utils.timezone import now
from psycopg import sql
from psycopg.types.json import Jsonb

from rollouts_app import catalog
from rollouts_app.gitstore import GitStore
from rollouts_app.models import Catalog, ConfigVersion, Repository, Rollout, RolloutVersion, SyncRun
from rollouts_app.models.catalogs import Key, Pair
from rollouts_app.sync.entrypoints import Use, absent_files
from rollouts_app.sync.plan import Move

if TYPE_CHECKING:
    from rollouts_app.sync.reading import Contents, ReadCommit

State = SyncRun.State


def write_versions(repository: Repository, contents: Mapping[Key, catalog.RolloutContents]) -> None:
    """Write new rollout versions, and the rollouts whose names are new."""
    names = {name for name, _ in contents}
    Rollout.objects.bulk_create(
        [Rollout(repository=repository, name=name) for name in sorted(names)],
        ignore_conflicts=True,
        batch_size=1000,
    )
    rollouts = dict(
        Rollout.objects.filter(repository=repository, name__in=names).values_list("name", "pk")
    )
    _copy(
        RolloutVersion,
        [
            "rollout_id",
            "tree_id",
            "parser",
            "description",
            "readme",
            "metadata",
            "problems",
            "problem_count",
        ],
        (
            (
                rollouts[name],
                tree,
                catalog.PARSER,
                read.description,
                read.readme,
                Jsonb(read.metadata),
                *_problems(read.problems),
            )
            for (name, tree), read in contents.items()
        ),
    )


def write_configs(repository: Repository, contents: Mapping[Key, catalog.ConfigContents]) -> None:
    """Write new config versions."""
    columns = ["repository_id", "path", "blob_id", "parser", "kind", "rollout_name", "entrypoint"]
    _copy(
        ConfigVersion,
        [*columns, "lines", "parsed", "problems", "problem_count"],
        (
            (
                repository.pk,
                path,
                blob,
                catalog.PARSER,
                read.kind,
                read.rollout_name,
                read.entrypoint,
                Jsonb(read.lines),
                Jsonb(read.parsed),
                *_problems(read.problems),
            )
            for (path, blob), read in contents.items()
        ),
    )


def write_catalogs(
    store: GitStore, repository: Repository, contents: Mapping[Pair, "Contents"]
) -> None:
    """Write new catalogs; their rollout and config versions must have been written."""
    versions = RolloutVersion.objects.known(
        repository,
        {key for content in contents.values() for key in content.rollouts.ids.items()},
        catalog.PARSER,
    )
    configs = ConfigVersion.objects.known(
        repository,
        {key for content in contents.values() for key in content.configs.ids.items()},
        catalog.PARSER,
    )
    absent = absent_files(
        store, {use for content in contents.values() for use in _uses(content, configs).values()}
    )
    columns = ["repository_id", "parser", "rollouts_tree", "configs_tree", "versions", "configs"]
    created_at = now()
    _copy(
        Catalog,
        [*columns, "problems", "problem_count", "created_at"],
        (
            (
                *(repository.pk, catalog.PARSER, *pair),
                *_catalog_row(content, versions, configs, absent),
                created_at,
            )
            for pair, content in contents.items()
        ),
    )


def _uses(content: "Contents", configs: Mapping[Key, ConfigVersion]) -> dict[str, Use]:
    """Config path → the rollout's tree and the file in it that the config names."""
    rollouts = content.rollouts.ids
    named = (configs[key] for key in content.configs.ids.items())
    return {
        config.path: (rollouts[config.rollout_name], config.entrypoint)
        for config in named
        if config.entrypoint and config.rollout_name in rollouts
    }


def _catalog_row(
    content: "Contents",
    versions: Mapping[Key, RolloutVersion],
    configs: Mapping[Key, ConfigVersion],
    absent: Collection[Use],
) -> tuple[str, str, Jsonb, int]:
    held = [versions[key] for key in content.rollouts.ids.items()]
    named = [configs[key] for key in content.configs.ids.items()]
    problems = [*content.problems]
    if not content.rollouts.is_cut:
        uses = _uses(content, configs).items() if absent else ()
        problems += catalog.combination_problems(
            content.rollouts.ids.keys(),
            {config.path: config for config in named},
            [path for path, use in uses if use in absent],
        )
    own = sum(row.problem_count for row in held) + sum(row.problem_count for row in named)
    rows, count = _problems(problems)
    return _array(held), _array(named), rows, own + count


def _array(rows: Sequence[models.Model]) -> str:
    """The ids as PostgreSQL writes an array: several times as fast as having them adapted."""
    return "{" + ",".join(str(row.pk) for row in rows) + "}"


def settle(moves: Sequence[Move], read: Mapping[str, "ReadCommit"], fetched_at: datetime) -> None:
    """Show the new catalogs: branches move and their runs end, all together or not at all.

    `fetched_at` is when the commits were here.
    """
    finished_at = now()
    with transaction.atomic(), connection.cursor() as cursor:
        base = _base_of_new_branches(moves)
        branches = [(m.branch.pk, m.commit, read[m.commit].catalog.pk) for m in moves]
        cursor.execute(MOVE_BRANCHES, [finished_at, *map(list, zip(*branches, strict=True))])
        runs = [_run_row(move, read[move.commit], base) for move in moves]
        cursor.execute(END_RUNS, [fetched_at, finished_at, *map(list, zip(*runs, strict=True))])


MOVE_BRANCHES = """
    UPDATE rollouts_app_branch AS branch
    SET commit = news.commit, catalog_id = news.catalog, changed_at = %s, deleted_at = NULL,
        withheld = ''
    FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS news (id, commit, catalog)
    WHERE branch.id = news.id
"""
END_RUNS = """
    UPDATE rollouts_app_syncrun AS run
    SET fetched_at = %s, finished_at = %s, commit = news.commit, state = news.state,
        author = news.author, subject = news.subject, is_new_branch = news.is_new,
        catalog_before_id = news.before, catalog_after_id = news.after
    FROM unnest(
        %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::boolean[],
        %s::bigint[], %s::bigint[]
    ) AS news (id, commit, state, author, subject, is_new, before, after)
    WHERE run.id = news.id AND run.state = 'syncing'
"""


def _base_of_new_branches(moves: Sequence[Move]) -> int | None:
    """The catalog that a new branch is compared with: the default branch's, if it has one."""
    if all(move.branch.catalog_id for move in moves):
        return None
    repository = moves[0].branch.repository
    default = repository.branches.filter(name=repository.default_branch, deleted_at=None)
    return default.values_list("catalog_id", flat=True).first()


def _run_row(move: Move, read: "ReadCommit", base: int | None) -> tuple[object, ...]:
    state = State.ISSUES if read.catalog.problem_count else State.SUCCESS
    return (
        move.run.pk,
        move.commit,
        state.value,
        catalog.printable(read.facts.author_name)[:255],
        catalog.printable(read.facts.subject),
        move.branch.catalog_id is None,
        move.branch.catalog_id or base,
        read.catalog.pk,
    )


def _problems(problems: Sequence[catalog.Problem]) -> tuple[Jsonb, int]:
    """The problems as stored, and how many of them are more than a note."""
    rows = [asdict(problem) for problem in problems]
    return Jsonb(rows), sum(problem.count for problem in problems if problem.severity != "note")


def _copy(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Insert rows by COPY, the fastest way into PostgreSQL."""
    command = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(command) as copy:
        for row in rows:
            copy.write_row(row)
