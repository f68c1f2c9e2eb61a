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
    object_bytes: int = 50_000_000  # one commit or tree
    blob_bytes: int = 1_000_000  # one file; larger ones are left out
    pack_bytes: int = 2_000_000_000  # what one fetch of commits and trees may write
    # What a fetch of files may write: so much, and so much more for each file asked for.
    blob_pack_bytes: int = 8_000_000
    blob_pack_bytes_each: int = 100_000
    cache_bytes: int = 5_000_000_000  # above it the cache is deleted and made anew

    ids_a_request: int = 20_000
    packs: int = 50  # above it they are merged into one
