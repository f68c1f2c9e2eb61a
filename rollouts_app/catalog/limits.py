"""What the catalog takes from a commit, all in one place.

What is cut or left out is told: by a problem, or by an ellipsis. What git may bring at all is in
`gitstore.limits`.
"""

# Entries. Those beyond come last in git's order of names.
MOST_ROLLOUTS = 5_000
MOST_CONFIGS = 2_000  # in each of configs/eval and configs/training
MOST_FILES = 200  # of one rollout's directory, by name
# Characters. File systems know no longer names, and the database's indexes are limited too.
LONGEST_NAME = 255

# Bytes of a pyproject.toml or config.
LARGEST_TOML = 100_000
# Python's parser takes time by the square of a dotted key's parts.
MOST_DOTS_A_KEY = 200
# How deep the values of a config are kept, how many characters of them as JSON; and integers that
# are kept as such.
DEEPEST = 20
LONGEST_PARSED = 20_000
SMALLEST_INT, LARGEST_INT = -(2**63), 2**63 - 1

# Characters.
LONGEST_README = 50_000  # which Markdown of any kind is rendered in at most two seconds
LONGEST_DESCRIPTION = 200
LONGEST_VALUE = 500  # of name, version and the like
LONGEST_PATH = 1_000  # of an entrypoint; longer ones are not looked for
MOST_VALUES = 200  # dependencies, tags
# Where the description is looked for when pyproject.toml has none.
SEARCHED_FOR_A_SENTENCE = 20_000
LONGEST_PARAGRAPH = 2_000

# Problems of a whole catalog, which are kept with it.
MOST_PROBLEMS = 100
