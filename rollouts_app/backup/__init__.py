"""The whole database in one file, and back into an empty one of any PostgreSQL from 15 on.

tables      which tables there are, and in which order they can be filled
writing     all rows as of one moment, by COPY, into a ZIP archive
reading     the schema of that moment by migrations, the rows, then the migrations since

Left out is what makes itself anew: the queue, the cache, and the git caches on the disks. Secrets
stay as encrypted as they are: without the ENCRYPTION_KEYS of then nobody can read them.
"""


class BackupError(Exception):
    """The backup cannot be made, or not be used. The message is a sentence for people."""
