"""A clock on the wall that a test sets: for a process whose PYTHONPATH has this folder (tests/house/clock), Python's
`time.time` and `time.time_ns` are as many seconds ahead as the file says that TROUPE_TEST_CLOCK names. What the disk
and other programs write down as times, and the clocks that nobody sets, are the machine's."""

import os
import time
from pathlib import Path

_OFFSET = Path(os.environ["TROUPE_TEST_CLOCK"])
_time_ns = time.time_ns


def _now() -> int:
    return _time_ns() + int(float(_OFFSET.read_text()) * 1e9)


time.time_ns = _now
time.time = lambda: _now() / 1e9
