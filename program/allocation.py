"""Makes the C library return freed memory to the system.

By default glibc keeps freed blocks for later. After the first large one is freed it raises its threshold, up to 32 MiB,
and each thread gets an arena of its own. So one message of 31 MiB cost a server 120 MB that never came back. With fixed
thresholds, large blocks come from the system and go back to it (58 MB before such a message, 58 after).

On other C libraries this does nothing.
"""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
LARGE = 512 * 1024
"""A block of this many bytes comes directly from the system. As many may lie unused at the end of the heap."""
ARENAS = 2
"""Two are enough: there are few threads, and they mostly wait for the disk."""


def settle() -> bool:
    """Call this before anything large is allocated. Returns whether the C library supports it."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, LARGE), (M_ARENA_MAX, ARENAS))
    taken = [mallopt(option, value) for option, value in settings]
    return all(taken)
