"""Osmosis Web: a dashboard for the rollouts in a GitHub repository."""

__version__ = "0.1.0"
