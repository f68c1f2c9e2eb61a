"""The server's side of the embedded PostgreSQL; its users' side, and the door, is `postgres.py`.

locks      who is there, as file locks that vanish with their holders
places     where things lie, and who runs PostgreSQL
binaries   the programs, out of the wheel
cluster    the data folder: made by initdb, its version, the settings
launcher   the process that starts, restarts and stops PostgreSQL
"""


class PostgresError(Exception):
    """The embedded PostgreSQL cannot be used. The message is a sentence for people."""
