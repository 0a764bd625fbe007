"""Turns an order into a process that runs its program.

`posix_spawn` borrows our memory until the exec. A fork copies every page that it touches. With the Python code between
fork and exec this cost 1.3 ms more, a fifth of a small program's whole time. The keeper itself does what `posix_spawn`
cannot do: it enters the folder and leaves it again, which is safe because it runs one program at a time. The kernel's
limits are set when the program has just begun. They are the second line of defence, and no program reaches them in its
first tenth of a millisecond.

A program that is to be kept off the network is forked after all: it has to leave the network before its exec, which
`posix_spawn` cannot do either, and the keeper itself needs to stay where it is (see `offline.py`).

The price: if the child's peak memory is smaller than ours (some 10 MB), the kernel reports ours; see `Run`.
"""

import errno
import math
import os
import resource
import stat
from collections.abc import Callable
from contextlib import suppress

from transports.process.launcher import offline
from transports.process.launcher.holdings import MOST_FILES
from transports.process.launcher.orders import CWD, PROGRAM, STDIN, Order
from transports.process.launcher.restraint import set_limit
from transports.process.launcher.system import DEAF_TO, IGNORED_BY_PYTHON, LINUX

DEVNULL = os.fsencode(os.devnull)
DEFAULT_PATH = os.fsencode(os.defpath)
HARD = {
    which: resource.getrlimit(which)[1]
    for which in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)
}
"""Our own limits, which do not change."""


class NotBorn(Exception):
    def __init__(self, stage: str, error: OSError) -> None:
        super().__init__(stage, error)
        self.stage = stage
        self.number = error.errno or 0


def bear(order: Order, streams: list[int], clone: Callable[[list[int]], int]) -> int:
    """Starts the program in a session of its own and returns its pid. `streams` become its first descriptors, after the
    input file if the order names one; without `cwd` the last of them is its folder. `clone` clones an interpreter that
    waits, which gets the given descriptors and our folder; it returns 0 if none waits."""
    stage = STDIN
    opened = -1
    try:
        if order.stdin:
            opened = _opened(order.stdin)
        pipes = streams if order.cwd else streams[:-1]
        given = [opened, *pipes] if order.stdin else pipes
        stage = CWD
        if order.cwd:
            os.chdir(order.cwd)
        else:
            os.fchdir(streams[-1])
        stage = PROGRAM
        pid = clone(given) or _spawn(order, given)
    except offline.NotForked as failure:
        raise NotBorn(failure.stage, failure) from failure
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


def _spawn(order: Order, given: list[int]) -> int:
    env = dict(pair.split(b"=", 1) for pair in order.env)
    program = order.argv[0]
    if b"/" in program:
        candidates = [program]
    else:
        candidates = [os.path.join(folder or b".", program) for folder in env.get(b"PATH", DEFAULT_PATH).split(b":")]
    if order.offline:
        return offline.fork(candidates, order.argv, env, given)
    actions = [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(given)]
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
        except OSError as error:  # it exists and cannot be run; another one on the path may
            refusal = error
    raise refusal


def _limit(pid: int, order: Order) -> None:
    """Sets the kernel's own limits, behind those of the keeper. RLIMIT_AS is left out because it breaks PyPy, and
    RLIMIT_NPROC because it counts all processes of the user, and none of root's."""
    if order.cpu_seconds is not None:  # for one process, in whole seconds, while the keeper counts all processes
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
    with suppress(OSError):  # it has ended already; or it runs as another user, and only the keeper can limit it
        set_limit(pid, which, limit)
