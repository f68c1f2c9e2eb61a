"""What one cache may cost, all in one place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Times in seconds, sizes in bytes."""

    heads_seconds: float = 60
    fetch_seconds: float = 900
    local_seconds: float = 300
    lock_seconds: float = 60  # waiting for another process that uses the same cache
    silence_seconds: int = 60  # without a single byte from the host

    answer_bytes: int = 100_000_000  # what git says about all the heads
    object_bytes: int = 8_000_000  # one commit or tree; some 200,000 entries
    blob_bytes: int = 1_000_000  # one file; larger ones are left out
    pack_bytes: int = 2_000_000_000  # what one fetch of commits and trees may write
    # What a fetch of files may write: so much, and so much more for each file asked for.
    blob_pack_bytes: int = 8_000_000
    blob_pack_bytes_each: int = 20_000
    cache_bytes: int = 5_000_000_000  # above it the cache is deleted and made anew
    room_bytes: int = 1_000_000_000  # freed in other caches, or our own, when the disk is full

    ids_a_request: int = 20_000
    unsound: int = 20  # commits looked for one by one; more are no accident
    packs: int = 50  # above it they are merged into one

    def files_pack_bytes(self, count: int) -> int:
        """What a fetch of so many files may write: no more than if each were as large as allowed.

        That leaves room for what does not compress, and for the pack's own lines.
        """
        most = count * (self.blob_bytes + self.blob_bytes // 50 + 4_096)
        return min(most, self.blob_pack_bytes + count * self.blob_pack_bytes_each)
