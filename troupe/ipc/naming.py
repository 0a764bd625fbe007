"""Ids for requests that were given none: they sort by time, and no two are the same.

    20260131-142355-012345-9f3c5a17e2     the time in UTC, to the microsecond; then chance

Within a process each is later than the one before, whatever the clock does. Ids of several processes that fall into the
same microsecond differ by chance: 40 bits of it.
"""

import os
import threading
import time
from datetime import UTC, datetime

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    global _last
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1000)
        now = _last
    seconds, micros = divmod(now, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d-%H%M%S}-{micros:06}-{os.urandom(5).hex()}"
