"""What the C library gives back of the memory that the server lets go of.

Left alone, glibc learns from the first large block that is freed to keep such blocks for later, up to 32 MiB each, and
gives each thread an arena of its own to keep them in. One message of 31 MiB then cost a server 120 MB that never came
back. With fixed thresholds large blocks come from the system and go back to it (58 MB before such a message, 58 after).

Elsewhere than on glibc nothing is done.
"""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
LARGE = 512 * 1024
"""Bytes of a block that comes from the system, and of what may lie unused at the end of the heap."""
ARENAS = 2
"""Threads here are few, and wait for the disk."""


def settle() -> bool:
    """Call it before anything large is there. Whether there is a C library that knows what is meant."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, LARGE), (M_ARENA_MAX, ARENAS))
    taken = [mallopt(option, value) for option, value in settings]
    return all(taken)
