"""Benchmarks, run by `script/bench` on an embedded PostgreSQL: how fast we are, and what we stand.

They see what tests see: the product's settings, with the emulator of `tests.settings` as GitHub and
a temporary folder for all data.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()
