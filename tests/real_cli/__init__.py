"""The public `osmosis` command line, as people run it: pinned, in an environment of its own."""
