"""From commits to Catalog rows: only trees and blobs never seen before are read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rollouts_app import catalog
from rollouts_app.gitstore import CommitFacts, Entry, GitStore
from rollouts_app.models import Catalog, ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.catalogs import Key, Pair
from rollouts_app.sync.writing import write_catalogs, write_configs, write_versions

# Files held in memory at a time, in bytes.
PORTION_BYTES = 16_000_000
NOTHING = catalog.Listing({}, frozenset(), 0)
# There are some, and none is known.
UNKNOWN = catalog.Listing({}, frozenset(), 1)
CONFIG_KINDS: tuple[Literal["eval", "training"], ...] = ("eval", "training")


@dataclass(frozen=True)
class ReadCommit:
    """A commit's facts and the catalog that shows it."""

    facts: CommitFacts
    catalog: Catalog


@dataclass
class Contents:
    """What the directories of one new catalog hold, and what is wrong with them as a whole."""

    rollouts: catalog.Listing
    configs: catalog.Listing
    problems: tuple[catalog.Problem, ...]


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
        write_catalogs(store, repository, contents)
        catalogs |= _known_catalogs(repository, new)
    return {commit: ReadCommit(facts[commit], catalogs[pairs[commit]]) for commit in facts}


def _pairs(store: GitStore, facts: dict[str, CommitFacts]) -> dict[str, Pair]:
    """The two directories of each commit, as `catalog.directory_in` tells them."""
    roots = {fact.tree for fact in facts.values()}
    by_root = {root: _pair(entries) for root, entries in store.trees(roots)}
    return {commit: by_root.get(fact.tree, _pair(None)) for commit, fact in facts.items()}


def _pair(entries: Iterable[Entry] | None) -> Pair:
    return catalog.directory_in(entries, "rollouts"), catalog.directory_in(entries, "configs")


def _known_catalogs(repository: Repository, pairs: set[Pair]) -> dict[Pair, Catalog]:
    found = repository.catalogs.filter(
        parser=catalog.PARSER,
        rollouts_tree__in={rollouts for rollouts, _ in pairs},
        configs_tree__in={configs for _, configs in pairs},
    ).defer("versions", "configs", "problems")
    return {row.trees: row for row in found if row.trees in pairs}


def _list(store: GitStore, pairs: set[Pair]) -> dict[Pair, Contents]:
    """The directories and config files of each pair of trees, without reading any file."""
    trees = {rollouts for rollouts, _ in pairs if catalog.is_tree(rollouts)}
    rollouts = {tree: catalog.rollouts_in(entries) for tree, entries in store.trees(trees)}
    configs = _list_configs(store, {configs for _, configs in pairs})
    return {pair: _contents(pair, rollouts.get(pair[0]), *configs[pair[1]]) for pair in pairs}


def _contents(
    pair: Pair,
    rollouts: catalog.Listing | None,
    configs: catalog.Listing,
    config_problems: Iterable[catalog.Problem],
) -> Contents:
    problems = [*catalog.no_directory("rollouts", pair[0], "error")]
    if rollouts:
        problems += catalog.too_many("rollouts/", rollouts, "directories")
    elif catalog.is_tree(pair[0]):
        rollouts = UNKNOWN
        problems.append(catalog.too_wide("rollouts/", "error"))
    # A root that cannot be read hides both directories, for one and the same reason.
    told = {problem.sentence: problem for problem in [*config_problems, *problems]}
    return Contents(rollouts or NOTHING, configs, tuple(told.values()))


def _list_configs(
    store: GitStore, roots: set[str]
) -> dict[str, tuple[catalog.Listing, list[catalog.Problem]]]:
    """Per `configs` directory: its eval and training configs, and what is wrong with it."""
    entries = dict(store.trees(root for root in roots if catalog.is_tree(root)))
    folders = {
        (root, kind): catalog.directory_in(entries.get(root), kind)
        for root in roots
        if catalog.is_tree(root)
        for kind in CONFIG_KINDS
    }
    trees = dict(store.trees(tree for tree in folders.values() if catalog.is_tree(tree)))
    found = {root: (NOTHING, [*catalog.no_directory("configs", root, "warning")]) for root in roots}
    for (root, kind), tree in folders.items():
        listing, problems = found[root]
        path = f"configs/{kind}"
        own = catalog.wanted_configs(kind, trees.get(tree, []))
        problems += catalog.no_directory(path, tree, "warning")
        problems += catalog.too_many(f"{path}/", own, "configs")
        if catalog.is_tree(tree) and tree not in trees:
            problems.append(catalog.too_wide(f"{path}/"))
        found[root] = (listing.with_(own), problems)
    return found


def _write_contents(
    store: GitStore, repository: Repository, contents: Collection[Contents]
) -> None:
    """Read and write the rollout and config versions that no catalog had before."""
    versions = {key for content in contents for key in content.rollouts.ids.items()}
    configs = {key for content in contents for key in content.configs.ids.items()}
    changed = {name for content in contents for name in content.rollouts.changed}
    changed |= {path for content in contents for path in content.configs.changed}
    new_versions = (
        versions - RolloutVersion.objects.known(repository, versions, catalog.PARSER).keys()
    )
    new_configs = configs - ConfigVersion.objects.known(repository, configs, catalog.PARSER).keys()
    wanted = {
        tree: catalog.wanted_files(entries)
        for tree, entries in store.trees(tree for _, tree in new_versions)
    }
    ids = {id for files in wanted.values() for id in files.ids.values()}
    sizes = store.fetch_blobs(ids | {blob for _, blob in new_configs})
    for portion in _portions(new_versions, lambda key: _ids_of(wanted.get(key[1])), sizes):
        blobs = _blobs(
            store, sizes, (id for _, tree in portion for id in _ids_of(wanted.get(tree)))
        )
        write_versions(
            repository,
            {key: _read_rollout(key, wanted.get(key[1]), blobs, changed) for key in portion},
        )
    for portion in _portions(new_configs, lambda key: [key[1]], sizes):
        blobs = _blobs(store, sizes, (blob for _, blob in portion))
        write_configs(
            repository,
            {
                (path, blob): catalog.read_config(path, blobs.get(blob), is_changed=path in changed)
                for path, blob in portion
            },
        )


def _read_rollout(
    key: Key, wanted: catalog.WantedFiles | None, blobs: dict[str, bytes], changed: Collection[str]
) -> catalog.RolloutContents:
    """Read one rollout; `wanted` is None where its directory has too many entries."""
    name, _tree = key
    files = None
    if wanted is not None:
        files = {file: blobs.get(id) for file, id in wanted.ids.items()}
    return catalog.read_rollout(name, files, wanted, is_changed=name in changed)


def _ids_of(wanted: catalog.WantedFiles | None) -> Collection[str]:
    return wanted.ids.values() if wanted else ()


def _blobs(store: GitStore, here: Mapping[str, int], ids: Iterable[str]) -> dict[str, bytes]:
    """The contents of files, without asking again for those that were far too large."""
    return dict(store.blobs(id for id in ids if id in here))


def _portions(
    keys: Iterable[Key], ids_of: Callable[[Key], Collection[str]], sizes: Mapping[str, int]
) -> Iterator[list[Key]]:
    """The keys in portions whose files can be held in memory."""
    portion: list[Key] = []
    held = 0
    for key in sorted(keys):
        size = sum(sizes.get(id, 0) for id in ids_of(key))
        if portion and held + size > PORTION_BYTES:
            yield portion
            portion, held = [], 0
        portion.append(key)
        held += size
    if portion:
        yield portion
