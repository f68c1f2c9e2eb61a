"""The doors for people: one file a page."""
