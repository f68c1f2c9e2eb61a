"""Where the embedded PostgreSQL lies, and which account it runs under.

PostgreSQL refuses to run as root. Started by root it therefore runs as `nobody`, who must be able
to reach its files. Permissions of folders that were there before are never touched: when one of
them is closed to `nobody` (as /root usually is), the files go to a folder of their own below
/var/lib, and a link in the data folder leads there.
"""

import hashlib
import logging
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from osmosis_web.postgres_server import PostgresError

logger = logging.getLogger(__name__)

SHARED_FOLDER = Path("/var/lib/osmosis-web")

# Socket addresses hold 104 bytes on macOS and the BSDs, 108 on Linux; the name of the socket itself
# and the closing zero take 19 of them, the ending of its temporary twin some more.
LONGEST_SOCKET_FOLDER = 80


@dataclass(frozen=True)
class Account:
    """Who runs PostgreSQL. `user`, `group` and `groups` are arguments for subprocess."""

    name: str
    uid: int
    user: int | None = None
    group: int | None = None
    groups: tuple[int, ...] | None = None


def account() -> Account:
    """Ourselves, or `nobody` when we are root. Raises PostgresError when there is no such user."""
    uid = os.geteuid()
    if uid != 0:
        return Account(name=name_of(uid), uid=uid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise PostgresError(
            "PostgreSQL refuses to run as root and there is no user called nobody to run it as. "
            "Start this as another user, or name a PostgreSQL server in DATABASE_URL."
        ) from None
    return Account(nobody.pw_name, nobody.pw_uid, nobody.pw_uid, nobody.pw_gid, ())


def name_of(uid: int) -> str:
    """What people call this user: the name, or the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


# Who is there, as file locks:
#   starting   one process at a time prepares, starts, joins or stops the server
#   users      shared by everyone who uses the database
#   launcher   held by the launcher, and taken for it by the process that starts it
#   server     held by every process of PostgreSQL
Lock = Literal["starting", "users", "launcher", "server"]


@dataclass(frozen=True)
class Places:
    """The files of one embedded PostgreSQL."""

    folder: Path

    @property
    def locks(self) -> Path:
        return self.folder / "locks"

    def lock(self, name: Lock) -> Path:
        return self.locks / name

    @property
    def log(self) -> Path:
        return self.folder / "postgres.log"

    @property
    def old_log(self) -> Path:
        return self.folder / "postgres.old.log"

    @property
    def socket_note(self) -> Path:
        """Holds the path of the socket's folder, which depends on the TMPDIR of who started it."""
        return self.folder / "socket-folder"

    @property
    def socket_folder(self) -> Path:
        return Path(self.socket_note.read_text())

    @property
    def entrance(self) -> Path:
        """The folder that the account of PostgreSQL must reach, or a link to it elsewhere."""
        return self.folder / "cluster"

    @property
    def cluster(self) -> Path:
        """That folder by a path which the account can walk."""
        return self.entrance.resolve()

    @property
    def data(self) -> Path:
        return self.cluster / "data"


def make_folder(folder: Path) -> Places:
    """The places below this folder, which is made with its parents when missing. Raises OSError."""
    for missing in reversed(
        [parent for parent in (folder, *folder.parents) if not parent.exists()]
    ):
        missing.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            missing.chmod(0o711)  # whatever the umask: nobody passes through, but cannot list
    places = Places(folder.resolve())
    places.locks.mkdir(mode=0o700, exist_ok=True)
    return places


def make_cluster_folder(places: Places, who: Account) -> None:
    """Make the folder that the account must reach: here, or elsewhere when it cannot come here.

    Raises PostgresError when the one made elsewhere before is gone.
    """
    if places.entrance.exists():
        return
    if places.entrance.is_symlink():
        raise PostgresError(
            f"The database lay in {places.entrance.readlink()}, which is gone. Bring that folder "
            f"back, or remove the link {places.entrance} to start empty."
        )
    if can_reach(places.folder, who):
        places.entrance.mkdir()
    else:
        SHARED_FOLDER.mkdir(mode=0o711, parents=True, exist_ok=True)
        elsewhere = tempfile.mkdtemp(prefix="postgres-", dir=SHARED_FOLDER)
        places.entrance.symlink_to(elsewhere)
        logger.warning(
            "The database lies in %s: PostgreSQL runs as %s, who cannot reach %s. "
            "Set DATA_DIR to a folder open to all users to keep it there.",
            *(elsewhere, who.name, places.folder),
        )
    places.entrance.chmod(0o711)


def can_reach(folder: Path, who: Account) -> bool:
    """Whether this account may enter this folder, found by trying."""
    try:
        attempt = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)],
            cwd="/",
            stderr=subprocess.DEVNULL,
            user=who.user,
            group=who.group,
            extra_groups=who.groups,
        )
    except OSError as error:
        raise PostgresError(
            f"PostgreSQL refuses to run as root and cannot be run as {who.name}: {error.strerror}. "
            "Start this as another user, or name a PostgreSQL server in DATABASE_URL."
        ) from error
    return attempt.returncode == 0


def make_socket_folder(places: Places, who: Account) -> None:
    """Make the private folder of the socket, and note its path.

    Its short name comes from the data folder's path, so that the address stays the same over
    restarts. Raises PostgresError when somebody else has made a folder of that name.
    """
    name = hashlib.sha256(os.fsencode(places.folder)).hexdigest()[:12]
    folder = _temporary_folder(who) / f"osmosis-{name}"
    try:
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)
        if who.user is not None:
            os.chown(folder, who.uid, -1)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != who.uid or found.st_mode & 0o077:
            raise PostgresError(
                f"{folder}, where the database's socket belongs, is not a private folder of "
                f"{who.name}. Remove it, or set TMPDIR to another folder."
            ) from None
    places.socket_note.write_text(str(folder))


def _temporary_folder(who: Account) -> Path:
    chosen = Path(tempfile.gettempdir()).resolve()
    if len(os.fsencode(chosen)) > LONGEST_SOCKET_FOLDER - 20 or not can_reach(chosen, who):
        return Path("/tmp").resolve()  # noqa: S108
    return chosen


def remove(places: Places) -> None:
    """Remove everything we made in these places. Other files there, and their folder, stay."""
    shutil.rmtree(places.cluster, ignore_errors=True)
    places.entrance.unlink(missing_ok=True)
    shutil.rmtree(places.locks, ignore_errors=True)
    for file in (places.log, places.old_log, places.socket_note):
        file.unlink(missing_ok=True)
    if not any(places.folder.iterdir()):
        places.folder.rmdir()
