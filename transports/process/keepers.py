"""The actor that owns the launcher, and lends its keepers.

    Wanted       lends a keeper: an idle one, or a new one. A new one can be used before it has been forked, because
                 messages to it wait in its socket. Raises OSError if there are too many open files
    GivenBack    keeps the keeper for the next run, or lets it go
    NothingLeft  answered when nothing is left of what a keeper ran that was killed, or has given up
    Renew        ends all runs, and takes the next keepers from a new launcher

A keeper is one end of a socket. Closing it ends whatever runs at the other end. So a run that is given up closes its
keeper and waits for nothing. When the launcher's process ends, or this actor, it shuts down all lent ends, which
interrupts every run on both sides.

The launcher's process sends READY, and then only the numbers of the keepers that it is asked about. Its end is a crash
of this actor, which supervision repairs; requests for a keeper meanwhile wait in the mailbox. A launcher that was
halted counts as ended.

    launcher             Supervisor: never gives up
    └─ process           Launcher: the process, and its keepers

A program that it runs may be able to kill it (see `launcher/system.py`), again and again. So its ends are not counted
as failures, and its supervisor never gives up.
"""

import math
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from actors.kernel import Actor, AnySpec, ChildSpec, KernelError, Key, Reply, Stop, Supervisor
from transports.process.launcher.orders import ASK, KEEPER_WANTED, MOST_BYTES, PID_BYTES, READY
from transports.process.leftovers import end_at_once, none_left

PROGRAM = Path(__file__).with_name("launcher") / "__main__.py"

RUNNING = 64
"""The most programs that run at once."""
IDLE = 8
"""The most keepers that are kept for later."""
BACKOFF = (0.01, 0.1, 0.5)
"""Seconds before a restart: nearly at once, however often it has ended."""
AGAIN_SECONDS = 1.0
"""The wait after a launcher could not be started."""
GOODBYE_SECONDS = 7.0
"""Somewhat more than keepers need to end a stubborn run."""


class LauncherLost(KernelError):
    """The launcher's process has ended, or could not be started."""


class TooManyPrograms(KernelError):
    """As many programs are running as may run at once."""


class KeeperEnd:
    """Our end of a keeper."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.pid: int | None = None  # once it has told
        self.in_use = True
        self._interrupted = False

    @property
    def fit(self) -> bool:
        """Whether it is connected and has sent nothing, and so is idle."""
        try:
            self.end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def done(self, *, fit: bool) -> None:
        """The borrower calls this before it gives the keeper back. If the keeper is not fit for another run, this ends
        it."""
        self.in_use = False
        if self._interrupted or not fit:
            self.end.close()

    def interrupt(self) -> None:
        """Shuts the socket down, so that both the listener here and the keeper see its end."""
        self._interrupted = True
        if self.in_use:
            _shut_down(self.end)
        else:  # it is being given back, but this actor no longer knows it
            self.end.close()

    def lend(self) -> "KeeperEnd":
        self.in_use = True
        return self

    def let_go(self) -> None:
        self.end.close()


class KeeperWanted(Struct, frozen=True):
    reply: Reply[KeeperEnd]


class GivenBack(Struct, frozen=True):
    keeper: KeeperEnd


class Renew(Struct, frozen=True):
    pass


class NothingLeft(Struct, frozen=True):
    """If the launcher has ended, its successor answers: it has begun when nothing was left (leftovers.py)."""

    keeper: int
    reply: Reply[None]


LauncherMessage = KeeperWanted | GivenBack | NothingLeft | Renew

NAME = Key[LauncherMessage]("launcher")


class LauncherStatistics(Struct, frozen=True):
    pid: int | None
    running: int
    idle: int
    forked: int


class Launcher(Actor[LauncherMessage]):
    def __init__(self, name: Key[LauncherMessage] = NAME, *, running: int = RUNNING, idle: int = IDLE) -> None:
        self._name = name
        self._most_running = running
        self._most_idle = idle
        self._process: trio.Process | None = None
        self._control: socket.socket | None = None
        self._leaving = False
        self._ended_well = False
        """Whether the process has ended by itself, after the last of its keepers."""
        self._lent: set[KeeperEnd] = set()
        self._idle: list[KeeperEnd] = []
        """Invariant: a keeper is in at most one of the two, and open if it is in one."""
        self._forked = 0
        self._asked: dict[int, list[Reply[None]]] = {}
        """Those who wait until nothing is left of what a keeper ran."""
        self._heard = bytearray()

    def statistics(self) -> LauncherStatistics:
        pid = self._process.pid if self._process else None
        running = sum(keeper.in_use for keeper in self._lent)
        return LauncherStatistics(pid, running, len(self._idle), self._forked)

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(self._name, self.ref)
        await none_left()
        try:
            await self._open()
        except (LauncherLost, OSError):
            await trio.sleep(AGAIN_SECONDS)
            raise
        self.run_beside(self._live)

    async def _open(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._control = ours
        try:
            with theirs:
                self._process = await _open_launcher(theirs)
            await trio.lowlevel.wait_readable(ours)
            if ours.recv(len(READY)) != READY:
                raise LauncherLost(f"the launcher ({PROGRAM}) ended before it was ready; its error output says why")
        except BaseException:
            self._close()
            raise

    def at_once(self, message: LauncherMessage) -> bool:
        match message:
            case KeeperWanted(reply):
                return self._lend(self._idle_one(), reply)
            case GivenBack(keeper):
                self._given_back(keeper)
                return True
            case NothingLeft() | Renew():
                return False

    async def handle(self, message: LauncherMessage) -> None:
        match message:
            case KeeperWanted(reply):
                self._lend(self._idle_one() or self._new_one(reply), reply)
            case GivenBack(keeper):
                self._given_back(keeper)
            case NothingLeft(keeper, reply):
                self._ask(keeper, reply)
            case Renew():
                self._end()
                self.finish()
            case _:
                self.unknown(message)

    async def stopping(self, stop: Stop) -> None:
        self._hang_up()
        if self._process is not None and not self._is_halted():
            with trio.move_on_after(GOODBYE_SECONDS):
                await self._process.wait()

    def _lend(self, keeper: KeeperEnd | None, reply: Reply[KeeperEnd]) -> bool:
        if keeper is None:
            return False
        self._lent.add(keeper)
        reply.set(keeper.lend())
        return True

    def _given_back(self, keeper: KeeperEnd) -> None:
        ours = keeper in self._lent
        self._lent.discard(keeper)
        if ours and len(self._idle) < self._most_idle and keeper.fit:
            self._idle.append(keeper)
        else:
            keeper.let_go()

    def _idle_one(self) -> KeeperEnd | None:
        while self._idle:
            keeper = self._idle.pop()
            if keeper.fit:
                return keeper
            keeper.let_go()
        return None

    def _new_one(self, reply: Reply[KeeperEnd]) -> KeeperEnd | None:
        if len(self._lent) >= self._most_running:
            words = f"{len(self._lent)} programs are running, the most allowed; try again when one has ended"
            reply.fail(TooManyPrograms(words))
            return None
        assert self._control is not None
        if self._is_halted():
            raise LauncherLost("the launcher was halted")
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:  # too many open files: only this request fails, and running programs go on
            reply.fail(error)
            return None
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MOST_BYTES)
        try:
            with theirs:
                socket.send_fds(self._control, [KEEPER_WANTED], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise LauncherLost("the launcher has ended") from error
        self._forked += 1
        return KeeperEnd(ours)

    def _ask(self, keeper: int, reply: Reply[None]) -> None:
        assert self._control is not None
        if self._is_halted():
            raise LauncherLost("the launcher was halted")
        try:
            self._control.sendall(ASK + keeper.to_bytes(PID_BYTES, "big"))
        except OSError as error:
            raise LauncherLost("the launcher has ended") from error
        self._asked.setdefault(keeper, []).append(reply)

    def _hear(self) -> bool:
        """False: the launcher has ended."""
        assert self._control is not None
        try:
            data = self._control.recv(64 * PID_BYTES)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        self._heard += data
        while len(self._heard) >= PID_BYTES:
            keeper = int.from_bytes(self._heard[:PID_BYTES], "big")
            del self._heard[:PID_BYTES]
            for reply in self._asked.pop(keeper, ()):
                if reply.wanted:
                    reply.set(None)
        return bool(data)

    def _is_halted(self) -> bool:
        """Whether it was halted by a SIGSTOP, which it cannot report itself."""
        assert self._process is not None
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # it has ended
            return False

    async def _live(self) -> None:
        assert self._control is not None
        assert self._process is not None
        try:
            while not self._leaving:  # it may have been renewed before this task had its first turn
                await trio.lowlevel.wait_readable(self._control)
                if self._leaving or not self._hear():
                    break
            if not self._leaving:
                raise LauncherLost("the launcher has ended; what it ran was interrupted")
            self._ended_well = await self._process.wait() == 0  # it ends after the last of its keepers
        finally:
            self._close()

    def _hang_up(self) -> None:
        self._leaving = True
        if self._control is not None:
            _shut_down(self._control)
        for keeper in self._lent:
            keeper.interrupt()
        for keeper in self._idle:
            keeper.let_go()
        self._idle.clear()

    def _close(self) -> None:
        """Runs at every end of this incarnation, when nobody waits for `_control` any more. Lent keepers are closed by
        their borrowers."""
        self._end()
        if self._control is not None:
            self._control.close()

    def _end(self) -> None:
        """Ends the process and all that it runs."""
        self._hang_up()
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # about a millisecond
            process.poll()
        if not self._ended_well:
            end_at_once()


async def _open_launcher(control: socket.socket) -> trio.Process:
    return await trio.lowlevel.open_process(
        [sys.executable, "-I", "-S", str(PROGRAM)],
        stdin=control.fileno(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _shut_down(end: socket.socket) -> None:
    with suppress(OSError):  # it is closed, or the other end has gone
        end.shutdown(socket.SHUT_RDWR)


class Untiring:
    """A meter that allows any number of restarts. The child's backoff decides how soon."""

    def failure(self, child: Hashable, now: float, luck: float) -> float | None:
        return 0.0

    def limit(self) -> str:
        return "any number of restarts"


def launcher_spec(make: Callable[[], Launcher] = Launcher) -> AnySpec:
    process = ChildSpec("process", make, grace=GOODBYE_SECONDS + 1.0, backoff=BACKOFF)
    return ChildSpec(
        "launcher", lambda: Supervisor([process], meter=Untiring()), start_timeout=math.inf, grace=math.inf
    )
