"""Git Sync: where git, GitHub, the catalog and the models meet.

A webhook, a button or the timer leaves rows and rings; `engine.sync` asks GitHub for the heads as
they are now and makes the stored catalogs equal to them.
"""
