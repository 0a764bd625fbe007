"""How a process of ours stands to the system: which signals it hears, whose orphans it is given, who is to go first.

There is no `prctl` in the standard library, so it goes through ctypes.
"""

import ctypes
import os
import resource
import signal
import sys

LINUX = sys.platform == "linux"
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def settle() -> None:
    """As a launcher: nothing reaches it but its sockets."""
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir("/")


def adopt_orphans() -> None:
    """Whatever is orphaned below becomes a child of ours. Not inherited by forks."""
    if _libc is not None and _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "prctl")


def go_first() -> None:
    """When memory runs out, the system ends us sooner than the server or an editor, and what we run still sooner, which
    inherits this and is larger."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:  # not Linux, or not allowed: nothing depends on it
        return
    os.write(descriptor, b"500")
    os.close(descriptor)
