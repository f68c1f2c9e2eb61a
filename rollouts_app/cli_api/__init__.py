"""The door for the `osmosis` command line: /api/cli/*, described by docs/cli-api.yaml.

JSON only, errors included; no cookies, no redirects, no trailing slashes.
"""
