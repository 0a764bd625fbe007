"""An interpreter that has started already, for the next run of the same program.

Most of what a small program costs is the start of its interpreter. A solution is run on case after case, so when a
keeper gets the same program again, it starts the interpreter once and halts it just before it opens the script
(`ahead/sitecustomize.py`). Each run is a clone of it then, which costs about a tenth.

    NONE --the same program within AGAIN_SECONDS--> WAITING --it ends or is halted, another program, MOST_CLONES clones,
                                                             AGAIN_SECONDS without a run-----------------------> NONE

What a program can see of it: all clones have the same seed of hashes and the same addresses. Their CPU time begins with
them, so it does not contain the interpreter's start. The collector has counted, and memory is used, a little otherwise,
and the kernel still tells of the environment in which the interpreter was started.

Why can no run change the next one?
  - A clone has its own memory, and none of our descriptors.
  - The interpreter that waits is not dumpable, so nobody can trace it or read or write its memory, and it is started
    while the keeper runs nothing.
  - It heeds no signal but SIGKILL and SIGSTOP, and the two that the C library keeps for itself, which end it. If it has
    ended, is halted, was sent any signal, or may not use the keeper's processors any more, the next run starts in the
    usual way.
  - It is not a subreaper, and its clones are the keeper's children. So as long as it is the keeper's only child,
    nothing is left of a run.

What somebody installs counts for the next run: the interpreter looks whether it is still what it would be if it were
started now, at most every 50 ms, and ends if not.

If it does not answer an order, it is ended. If there was a clone nevertheless, that may have run and written, so the
run is interrupted (`keeper.py`), and not started once more.

It is used only for an interpreter that was seen to halt there (`process/programs.py`), and only where the kernel lists
children. One whose site (`.pth`, `sitecustomize`) starts threads or processes, keeps something open, or depends on the
folder in which it starts does not halt. Otherwise, and whenever something about it is unusual, a program starts in the
usual way.
"""

import math
import os
import select
import signal
import socket
import time
from contextlib import ExitStack

from transports.process.launcher.census import LISTS_CHILDREN, own_children
from transports.process.launcher.orders import Order
from transports.process.launcher.system import DEAF_TO, IGNORED_BY_PYTHON

FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ahead")
"""On the PYTHONPATH of an interpreter that is to halt."""
WOULD_WAIT = 97
"""The exit code of an interpreter that would wait, if it is tried without a keeper."""
START = "/"
"""The folder in which it starts, which is the keeper's own."""
VARIABLE = "PYTHONPATH"
AGAIN_SECONDS = 10.0
MOST_CLONES = 64
"""Then the next seed of hashes has its turn."""
READY_SECONDS = 2.0
CLONE_SECONDS = 1.0
LATER_SECONDS = 60.0
"""After a failure, until the next attempt."""
PID_BYTES = 4

_Program = tuple[tuple[bytes, ...], tuple[bytes, ...]]
"""Arguments and environment."""


class CloneLost(Exception):
    """It did not answer. There may or may not be a clone."""


class Standby:
    def __init__(self) -> None:
        self.pid = 0
        """0: there is none."""
        self._line: socket.socket | None = None
        """Invariant: None if and only if `pid` is 0."""
        self._program: _Program | None = None
        """The program of the last run."""
        self._ran_at = self._not_before = -math.inf
        self._clones = 0

    def prepare(self, order: Order) -> None:
        """For the run of this order, which comes next. Nothing else runs now."""
        now = time.monotonic()
        program = tuple(order.argv), tuple(order.env)
        again = program == self._program and now < self._ran_at + AGAIN_SECONDS
        self._program, self._ran_at = program, now
        if self.pid and (not again or self._clones >= MOST_CLONES or not self._waits()):
            self.end()
        if not self.pid and again and now >= self._not_before and _can_be_halted(order):
            try:
                self._start(order)
            except OSError:
                self.end()
                self._not_before = now + LATER_SECONDS

    def seconds_left(self) -> float | None:
        """Until it should be ended, if there is no further run. None: there is none."""
        return max(0.0, self._ran_at + AGAIN_SECONDS - time.monotonic()) if self.pid else None

    def clone(self, given: list[int]) -> int:
        """The pid of a clone, to which `given` are input and outputs, and our folder is its own. 0: there is none.
        Raises CloneLost."""
        if self._line is None:
            return 0
        folder = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # it need not be readable
        try:
            socket.send_fds(self._line, [b"."], [*given, folder])
            pid = self._heard(CLONE_SECONDS)
        except OSError:
            pid = 0
        finally:
            os.close(folder)
        if not pid:  # it has gone, or it may not have any more processes
            self.end()
            raise CloneLost
        self._clones += 1
        return pid

    def end(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.forget()

    def forget(self) -> None:
        """It has ended, and is reaped."""
        self.pid = 0
        if self._line is not None:
            self._line.close()
            self._line = None

    def _start(self, order: Order) -> None:
        env = dict(pair.split(b"=", 1) for pair in order.env)
        env[VARIABLE.encode()] = os.fsencode(FOLDER)
        with ExitStack() as held:
            line, theirs = socket.socketpair()
            held.enter_context(theirs)
            reads, writes = os.pipe()
            nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            for descriptor in (reads, writes, nothing):
                held.callback(os.close, descriptor)
            self._line, self._clones = line, 0
            given = (nothing, writes, writes, theirs.fileno())
            actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(given)]
            default = [*DEAF_TO, *IGNORED_BY_PYTHON]
            argv = order.argv
            self.pid = os.posix_spawn(
                argv[0], argv, env, file_actions=actions, setsid=True, setsigmask=[], setsigdef=default
            )
            theirs.close()
            if self._heard(READY_SECONDS) != self.pid:
                raise OSError("it does not halt")
            if own_children() != [self.pid]:
                raise OSError("it leaves something to us at each start")
            if select.select([reads], [], [], 0)[0]:
                raise OSError("it writes something at each start")

    def _heard(self, seconds: float) -> int:
        assert self._line is not None
        self._line.settimeout(seconds)
        return int.from_bytes(self._line.recv(PID_BYTES), "big")

    def _waits(self) -> bool:
        """Whether it has neither ended nor been halted, and no run has taken processors from it."""
        changed = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
        return changed is None and os.sched_getaffinity(self.pid) == os.sched_getaffinity(0)


def _can_be_halted(order: Order) -> bool:
    """Whether its interpreter would find, and do, just what it does without us. Its streams are made when it starts, so
    they must be of the kind that they will be later: a file, and pipes."""
    arguments = order.argv[1:]
    return (
        LISTS_CHILDREN
        and order.ahead
        and len(arguments) == 1
        and os.path.isabs(arguments[0])
        and bool(order.stdin)
        and bool(order.cwd)
        and not order.offline
        and not any(pair.startswith(VARIABLE.encode() + b"=") for pair in order.env)
    )
