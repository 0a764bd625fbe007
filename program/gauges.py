"""Figures that the operating system has about this process."""

import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def resident_bytes() -> int:
    """The memory in use now. Where the system does not tell this (no /proc), the highest value so far."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
