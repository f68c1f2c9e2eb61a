"""From commits to Catalog rows: only trees and blobs never seen before are read."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from rollouts_app import catalog
from rollouts_app.gitstore import CommitFacts, Entry, GitStore
from rollouts_app.models import Catalog, ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.catalogs import Pair
from rollouts_app.sync.writing import write_catalogs, write_configs, write_versions

CONFIG_KINDS: tuple[Literal["eval", "training"], ...] = ("eval", "training")


@dataclass(frozen=True)
class ReadCommit:
    """A commit's facts and the catalog that shows it."""

    facts: CommitFacts
    catalog: Catalog


@dataclass
class Contents:
    """What the directories of one new catalog hold: rollouts by name, configs by path."""

    rollouts: dict[str, str]
    configs: dict[str, str]


def read_catalogs(
    store: GitStore, repository: Repository, commits: Iterable[str]
) -> dict[str, ReadCommit]:
    """Find or write the catalog of each commit. All commits must have been fetched."""
    facts = store.commits(commits)
    pairs = _pairs(store, facts)
    catalogs = _known_catalogs(repository, set(pairs.values()))
    new = set(pairs.values()) - set(catalogs)
    if new:
        contents = _list(store, new)
        _write_contents(store, repository, contents.values())
        write_catalogs(repository, contents)
        catalogs |= _known_catalogs(repository, new)
    return {commit: ReadCommit(facts[commit], catalogs[pairs[commit]]) for commit in facts}


def _pairs(store: GitStore, facts: dict[str, CommitFacts]) -> dict[str, Pair]:
    """The two tree ids of each commit; an absent directory has the empty id."""
    by_root = {
        root: (_directory(entries, "rollouts"), _directory(entries, "configs"))
        for root, entries in store.trees(fact.tree for fact in facts.values())
    }
    return {commit: by_root[fact.tree] for commit, fact in facts.items()}


def _directory(entries: Iterable[Entry], name: str) -> str:
    """The tree id of a real directory: symlinks, files and submodules are none."""
    return next((e.id for e in entries if e.name == name and e.kind == "directory"), "")


def _known_catalogs(repository: Repository, pairs: set[Pair]) -> dict[Pair, Catalog]:
    found = repository.catalogs.filter(
        rollouts_tree__in={rollouts for rollouts, _ in pairs},
        configs_tree__in={configs for _, configs in pairs},
    ).defer("versions", "configs", "problems")
    return {row.trees: row for row in found if row.trees in pairs}


def _list(store: GitStore, pairs: set[Pair]) -> dict[Pair, Contents]:
    """The directories and config files of each pair of trees, without reading any file."""
    rollouts = {
        tree: catalog.rollouts_in(entries)
        for tree, entries in store.trees(rollouts for rollouts, _ in pairs if rollouts)
    }
    configs = _list_configs(store, {configs for _, configs in pairs if configs})
    return {pair: Contents(rollouts.get(pair[0], {}), configs.get(pair[1], {})) for pair in pairs}


def _list_configs(store: GitStore, roots: set[str]) -> dict[str, dict[str, str]]:
    """Per `configs` tree: path → blob id of the eval and training configs."""
    folders = {
        (root, kind): _directory(entries, kind)
        for root, entries in store.trees(roots)
        for kind in CONFIG_KINDS
    }
    trees = dict(store.trees(tree for tree in folders.values() if tree))
    configs: dict[str, dict[str, str]] = {root: {} for root in roots}
    for (root, kind), tree in folders.items():
        configs[root] |= catalog.wanted_configs(kind, trees.get(tree, []))
    return configs


def _write_contents(
    store: GitStore, repository: Repository, contents: Collection[Contents]
) -> None:
    """Read and write the rollout and config versions that no catalog had before."""
    versions = {key for content in contents for key in content.rollouts.items()}
    configs = {key for content in contents for key in content.configs.items()}
    new_versions = versions - RolloutVersion.objects.known(repository, versions).keys()
    new_configs = configs - ConfigVersion.objects.known(repository, configs).keys()
    wanted = {
        tree: catalog.wanted_files(entries)
        for tree, entries in store.trees(tree for _, tree in new_versions)
    }
    ids = {blob for files in wanted.values() for blob in files.values()}
    blobs = dict(store.blobs(ids | {blob for _, blob in new_configs}))
    write_versions(
        repository,
        {
            (name, tree): catalog.read_rollout(
                name, {file: blobs.get(blob) for file, blob in wanted[tree].items()}
            )
            for name, tree in new_versions
        },
    )
    write_configs(
        repository,
        {(path, blob): catalog.read_config(path, blobs.get(blob)) for path, blob in new_configs},
    )
