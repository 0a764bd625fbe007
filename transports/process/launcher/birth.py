"""From an order to a process that runs its program.

`posix_spawn` borrows our memory until the exec. A fork has to copy what it touches: with what must be done between
the two in Python, it cost 1.3 ms more, a fifth of a small program's whole time. What `posix_spawn` cannot do, the
keeper does to itself, which it may because it runs one program at a time: it enters the folder, and leaves it again.
The limits that the kernel holds are set when the program has just begun; they are the second line, and no program
reaches them in its first tenth of a millisecond.

The price is that the kernel takes our peak (some 10 MB) for the child's, if that is less; see `Run`.
"""

import errno
import math
import os
import resource
import stat
from contextlib import suppress

from transports.process.launcher.holdings import MOST_FILES
from transports.process.launcher.orders import CWD, PROGRAM, STDIN, Order
from transports.process.launcher.system import DEAF_TO, IGNORED_BY_PYTHON, LINUX

DEVNULL = os.fsencode(os.devnull)
DEFAULT_PATH = os.fsencode(os.defpath)
HARD = {
    which: resource.getrlimit(which)[1]
    for which in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
}
"""Ours, which nobody changes."""


class NotBorn(Exception):
    def __init__(self, stage: str, error: OSError) -> None:
        super().__init__(stage, error)
        self.stage = stage
        self.number = error.errno or 0


def bear(order: Order, streams: list[int]) -> int:
    """The pid of a child that runs the program, in a session of its own. `streams` become its first descriptors, after
    the file that the order names as its input, if it does."""
    stage = STDIN
    opened = -1
    try:
        if order.stdin:
            opened = _opened(order.stdin)
        given = [opened, *streams] if order.stdin else streams
        stage = CWD
        os.chdir(order.cwd)
        stage = PROGRAM
        pid = _spawn(order, [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(given)])
    except OSError as error:
        raise NotBorn(stage, error) from error
    finally:
        if opened >= 0:
            os.close(opened)
        os.chdir("/")
    if LINUX:
        _limit(pid, order)
    return pid


def _opened(path: bytes) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would hold us up
    if not stat.S_ISREG(os.fstat(descriptor).st_mode) and path != DEVNULL:
        os.close(descriptor)
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    os.set_blocking(descriptor, True)
    return descriptor


def _spawn(order: Order, actions: list[tuple[int, int, int]]) -> int:
    env = dict(pair.split(b"=", 1) for pair in order.env)
    program = order.argv[0]
    if b"/" in program:
        candidates = [program]
    else:
        candidates = [os.path.join(folder or b".", program) for folder in env.get(b"PATH", DEFAULT_PATH).split(b":")]
    refusal: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for candidate in candidates:
        try:
            return os.posix_spawn(
                candidate,
                order.argv,
                env,
                file_actions=actions,
                setsid=True,
                setsigmask=[],
                setsigdef=[*DEAF_TO, *IGNORED_BY_PYTHON],
            )
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:  # it is there and cannot be run; another on the path may
            refusal = error
    raise refusal


def _limit(pid: int, order: Order) -> None:
    """What the kernel itself can hold, behind what the keeper looks after. Not RLIMIT_AS, which breaks PyPy; not
    RLIMIT_NPROC, which counts all that the user runs, and of root nothing."""
    if order.cpu_seconds is not None:  # of one process, where the keeper counts all; and whole seconds
        _lower(pid, resource.RLIMIT_CPU, math.ceil(min(order.cpu_seconds, 1e9)) + 1)
    if order.file_bytes is not None:
        _lower(pid, resource.RLIMIT_FSIZE, order.file_bytes)
    if order.file_bytes is not None or order.memory_bytes is not None:
        _lower(pid, resource.RLIMIT_NOFILE, MOST_FILES)


def _lower(pid: int, which: int, limit: int) -> None:
    hard = HARD[which]
    if hard != resource.RLIM_INFINITY and limit >= hard:
        return
    limit = min(limit, 1 << 62)
    with suppress(OSError):  # it has ended already; or it is a program of another user, which only the looks can hold
        resource.prlimit(pid, which, (limit, limit))
