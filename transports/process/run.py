"""Runs a program, from its start until nothing of it is left.

Each run uses one task, the caller's. It waits for the keeper's socket. If there is more to wait for, a selector holds
this socket, the two outputs and the input, and trio waits for the selector. So input and outputs are served side by
side, in any order that the program likes, without a task for each; and there is one await, at which the run can be
cancelled.

    ended by                        how
    itself                          the keeper reports the outcome, after the last of its processes has gone
    CPU, memory, processes, files,  the keeper notices the excess and stops it; waiting for processors does not count as
    wall time                       wall time
    wall time, if the keeper does   we notice it some seconds later, and ask the keeper to stop it
    not notice; a flood of output
    who asks for it (`stop`)        we ask the keeper to stop it, and wait until nothing of it is left
    cancellation, an error          we close the keeper's socket; the keeper ends the run and itself; we do not wait
    the launcher's end              the keeper's socket ends: Interrupted
    a keeper that does not answer   we kill it, and the launcher ends the run: Interrupted

Rules
  - When a run has ended, no process is left that could write. The rest of the output is in the pipes and is read at
    once.
  - A program need not read its input, or all of it.
  - The stored output is bounded, and so is each read. A program that floods is slowed by its pipe until it is stopped.
    It floods if it has written more than it may, and more than a pipe holds beyond that: nobody is stopped for last
    words that he could as well have left in his pipe, whether or not somebody listened already.
  - The output of a program's first moments is not read until later, unless the caller wants it at once. Most programs
    end within this time and write less than a pipe holds. So a short run wakes us once.
  - A run that has to wait for its turn prepares everything before. Then it needs one message to the keeper, which is
    sent by the code that gives it the turn.
  - If the input is a file, the keeper opens it, and we never see its content.
"""

import fcntl
import math
import os
import selectors
import signal
import socket
import termios
from array import array
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from functools import partial
from typing import Protocol

import trio

from actors.kernel import ActorDown, ActorRef, KernelError, Key, Registry, TooSlow
from codec.programs import Captured, Excess, Exited, Outcome, Signalled, Stream
from transports.process.capture import Capture
from transports.process.command import Command
from transports.process.keepers import (
    NAME,
    GivenBack,
    KeeperEnd,
    KeeperWanted,
    LauncherLost,
    LauncherMessage,
    NothingLeft,
    Renew,
)
from transports.process.launcher import orders
from transports.process.order import NotKeptOffline, NotStarted, not_started, order_of, refused

__all__ = [
    "Interrupted",
    "NotKeptOffline",
    "NotStarted",
    "Now",
    "OnOutput",
    "Runner",
    "StopSign",
    "StoppedBefore",
    "Turn",
]

OnOutput = Callable[[Stream, bytes], object]
"""Called with a program's output as it comes. It must not wait. If it raises, the run ends."""

KEEPER_SECONDS = 15.0
"""Seconds to get a keeper; a launcher may have to be restarted."""
ASK_AGAIN_SECONDS = 1.0
"""A launcher that was halted just after it was asked never answers. That is seen when it is asked again."""
START_SECONDS = 8.0
"""Seconds from the order until the program runs; a busy machine may have to fork a keeper. The keeper may wait in vain
for an interpreter for three of them (`launcher/standby.py`)."""
LATE_SECONDS = 5.0
"""Seconds after the end of a run's wall time, as far as we know it. By then its keeper has stopped it, or is stuck."""
END_SECONDS = 8.0
"""Seconds from a stop to the end of the run: somewhat more than the keeper's own patience."""
READ_BYTES = 64 * 1024
LAST_BYTES = 64 * 1024
"""What a pipe holds, and so the most that a program can leave behind when it ends. Whoever reads this much cannot tell
yet whether more will come."""
READS = WRITES = 4
"""Reads and writes in one turn, before other tasks have theirs."""
CONTENDED_SHARE, CONTENDED_SECONDS = 0.25, 0.05
"""A run is contended if its leader waited for a processor for this share of its time, and at least this many
seconds."""


class Interrupted(KernelError):
    """The program was running, and was ended with the launcher. It may be run again."""


class StoppedBefore(NotStarted):
    """It was asked to stop before it had started, and never has."""


class StopSign(Protocol):
    """trio.Event is one."""

    async def wait(self) -> object: ...


class Turn(Protocol):
    """Decides when a program may start."""

    def come(self, begin: Callable[[], None]) -> None:
        """Everything is prepared. Calls `begin`, which does not raise, as soon as the program may start."""

    def over(self) -> None:
        """The program has ended, or will not start. Further calls do nothing."""


class Now:
    """A turn that comes at once."""

    def come(self, begin: Callable[[], None]) -> None:
        begin()

    def over(self) -> None:
        pass


class Runner:
    """The interface for everything that runs programs."""

    def __init__(self, registry: Registry, name: Key[LauncherMessage] = NAME) -> None:
        self._registry = registry
        self._name = name

    async def run(
        self,
        command: Command,
        *,
        on_output: OnOutput | None = None,
        turn: Turn | None = None,
        stop: StopSign | None = None,
    ) -> Outcome:
        """Runs the command. Raises NotStarted, Interrupted, TooManyPrograms, or a KernelError of the launcher's
        actor.

        With `stop`: when it comes, the command is ended, and the outcome is told when nothing of it is left
        (`stopped_for` is "asked"). StoppedBefore: it had not started. Interrupted is raised when nothing is left,
        too."""
        order = order_of(command)
        if stop is None:
            return await self._run(command, order, on_output, turn, None)
        asking = _Asking(stop)
        failure: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asking.wait)
            try:
                outcome = await self._run(command, order, on_output, turn, asking)
            except Exception as error:  # bare it leaves the nursery, and not in a group
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return outcome

    async def _run(
        self, command: Command, order: bytes, on_output: OnOutput | None, turn: Turn | None, asking: "_Asking | None"
    ) -> Outcome:
        launcher = self._registry.get(self._name)
        try:
            if asking is None:
                keeper = await _borrowed(launcher)
            else:
                keeper = await asking.unless_asked(command, _borrowed(launcher))
        except OSError as error:  # too many open files
            raise refused(command, str(error.strerror)) from error
        run = _Run(command, keeper, order, on_output, turn or Now())
        try:
            with closing(run):
                run.make_ready()
                if asking is None:
                    return await run.outcome()
                asking.concerns(run)
                try:
                    outcome = await run.outcome()
                except Interrupted:
                    await _nothing_left(keeper, launcher)
                    raise
                if not run.keeper_is_idle:  # it could not end all of it, and has left it to the launcher
                    await _nothing_left(keeper, launcher)
                return outcome
        finally:
            keeper.done(fit=run.keeper_is_idle)
            launcher.hand(GivenBack(keeper), urgent=True)

    def renew(self) -> None:
        """Ends all current runs. The next run gets a launcher that is started for it."""
        self._registry.get(self._name).tell(Renew())


async def _borrowed(launcher: ActorRef[LauncherMessage]) -> KeeperEnd:
    until = trio.current_time() + KEEPER_SECONDS
    while True:
        try:
            return await launcher.ask(KeeperWanted, timeout=max(0.0, until - trio.current_time()))
        except LauncherLost:  # we were the first to notice; it is being restarted
            if trio.current_time() > until:
                raise


async def _nothing_left(keeper: KeeperEnd, launcher: ActorRef[LauncherMessage]) -> None:
    """The run was interrupted, or its keeper could not end all of it. Waits until others have."""
    until = trio.current_time() + KEEPER_SECONDS
    while keeper.pid is not None and launcher.alive:  # otherwise it has run nothing; or the tree is ending
        try:
            left = until - trio.current_time()
            await launcher.ask(partial(NothingLeft, keeper.pid), timeout=min(left, ASK_AGAIN_SECONDS))
            return
        except (LauncherLost, ActorDown):  # the next one answers, when it is there
            await trio.lowlevel.checkpoint()
        except TooSlow:
            if trio.current_time() >= until:  # a process hangs in the kernel
                return


class _Asking:
    """Hears the caller's `stop`, and tells whoever is at it then."""

    def __init__(self, stop: StopSign) -> None:
        self._stop = stop
        self._asked = False
        self._before = trio.CancelScope()
        self._run: _Run | None = None

    async def wait(self) -> None:
        await self._stop.wait()
        self._asked = True
        self._before.cancel()
        if self._run is not None:
            self._run.ask_to_stop()

    async def unless_asked(self, command: Command, keeper: Awaitable[KeeperEnd]) -> KeeperEnd:
        with self._before:
            return await keeper
        raise stopped_before(command)

    def concerns(self, run: "_Run") -> None:
        self._run = run
        if self._asked:
            run.ask_to_stop()


def stopped_before(command: Command) -> StoppedBefore:
    return StoppedBefore(f"{command.argv[0]!r} was stopped before it had started")


class _Run:
    def __init__(
        self, command: Command, keeper: KeeperEnd, order: bytes, on_output: OnOutput | None, turn: Turn
    ) -> None:
        self.keeper_is_idle = True
        """Whether the keeper can be used again."""
        self._keeper = keeper
        self._end = keeper.end
        """Our end of the keeper's socket."""
        self._order = order
        self._turn = turn
        self._command = command
        self._on_output = on_output
        bounds = command.bounds
        self._captures = {Stream.STDOUT: Capture(bounds.output_bytes), Stream.STDERR: Capture(bounds.stderr_bytes)}
        self._selector: selectors.DefaultSelector | None = None
        """None: there is nothing to wait for except the keeper."""
        self._listening = False
        self._theirs: list[int] = []
        """The program's ends of its pipes, until the keeper has them."""
        self._open: dict[Stream, int] = {}
        """Ends of pipes that we read from."""
        self._input: int | None = None
        """The end of the pipe that we write to. Invariant: not None => some of `_unfed` is left."""
        parts = (command.stdin,) if isinstance(command.stdin, bytes) else command.stdin
        self._parts = deque(filter(None, parts)) if isinstance(parts, tuple) else deque[bytes]()
        """The parts of the input after `_unfed`."""
        self._unfed = memoryview(self._parts.popleft() if self._parts else b"")
        self._held = bytearray()
        self._leader: int | None = None  # once the keeper has told
        self._stopped_for: Excess | None = None
        self._waits = trio.CancelScope()
        """The scope around all waiting. Its deadline is the run's next one."""
        self._deadline = math.inf
        self._begun = False
        """Whether the order is sent."""
        self._began = 0.0  # once the keeper has told
        self._failure: KernelError | None = None
        self._ended: orders.RunEnded | None = None

    # -- the run

    def make_ready(self) -> None:
        """Does everything that can be done before its turn."""
        try:
            if self._unfed:
                reads, self._input = os.pipe()
                self._theirs.append(reads)
                os.set_blocking(self._input, False)
                self._feed()
            for stream in Stream:
                reads, writes = os.pipe()
                self._theirs.append(writes)
                self._open[stream] = reads
                os.set_blocking(reads, False)
            if self._input is not None:
                self._select().register(self._input, selectors.EVENT_WRITE, self._feed)
            if self._on_output is not None:
                self._listen()
        except OSError as error:  # too many open files
            raise refused(self._command, str(error.strerror)) from error

    async def outcome(self) -> Outcome:
        if self._failure is None:
            self._turn.come(self._begin)
        while True:
            with trio.CancelScope(deadline=self._deadline) as self._waits:
                while self._ended is None and self._failure is None:
                    await self._something()
            if self._failure is not None:
                raise self._failure
            if self._ended is not None:
                break
            if trio.current_time() >= self._deadline:
                if self._stopped_for is not None:
                    self._kill_keeper()
                    raise self._interrupted()
                self._stop("wall")
        self._turn.over()
        for stream in tuple(self._open):
            self._read_what_lies_in(stream)
        return self._told(self._ended)

    def ask_to_stop(self) -> None:
        """Called by who hears the caller's `stop`."""
        if not self._begun:
            self._fail(stopped_before(self._command))
        else:
            self._stop("asked")

    def close(self) -> None:
        """Releases everything except the keeper."""
        self._turn.over()
        if self._selector is not None:
            self._selector.close()
        self._let_go_of_theirs()
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
        if self._input is not None:
            os.close(self._input)
            self._input = None

    def _begin(self) -> None:
        """Starts the program, in the task that gives us the turn."""
        if self._failure is not None:  # it was stopped just before
            return
        self.keeper_is_idle = False
        self._begun = True
        try:
            folder = () if self._command.folder is None else (self._command.folder,)
            if socket.send_fds(self._end, [self._order], [*self._theirs, *folder]) < len(self._order):
                self._fail(self._interrupted())
        except ConnectionError:  # it has gone, and may have told us why: we shall hear
            pass
        except OSError as error:
            self._fail(refused(self._command, str(error.strerror)))
        self._let_go_of_theirs()
        wall = self._command.bounds.wall_seconds
        if wall is not None:  # it has not started yet; once it has, we are told since when
            self._set_deadline(trio.current_time() + START_SECONDS + wall)

    def _fail(self, error: KernelError) -> None:
        self._failure = error
        self._waits.cancel()

    async def _something(self) -> None:
        if self._selector is None:
            await trio.lowlevel.wait_readable(self._end)
            self._hear()
            return
        await trio.lowlevel.wait_readable(self._selector.fileno())
        for key, _ in self._selector.select(0):
            key.data()

    def _set_deadline(self, deadline: float) -> None:
        self._deadline = self._waits.deadline = deadline

    def _let_go_of_theirs(self) -> None:
        for descriptor in self._theirs:
            os.close(descriptor)
        self._theirs.clear()

    def _select(self) -> selectors.DefaultSelector:
        """The selector. It is made only when there is something besides the keeper to wait for, and never while we
        wait."""
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._end, selectors.EVENT_READ, self._hear)
        return self._selector

    # -- what the selector calls

    def _read(self, stream: Stream, reads: int = READS) -> None:
        capture, flood = self._captures[stream], self._command.bounds.flood_bytes
        for _ in range(reads):
            if stream not in self._open:
                return
            try:
                data = os.read(self._open[stream], READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                self._close_output(stream)
                return
            capture.take(data)
            if self._on_output is not None:
                self._on_output(stream, data)
            if flood is not None and capture.total > flood + LAST_BYTES:
                self._close_output(stream)
                self._stop("output")

    def _read_what_lies_in(self, stream: Stream) -> None:
        """Reads exactly as much as the pipe says it holds, whatever size the program has given it. It stops there,
        because the program may have passed the pipe to another process that goes on writing."""
        capture = self._captures[stream]
        held = array("i", [0])
        fcntl.ioctl(self._open[stream], termios.FIONREAD, held)
        end = capture.total + held[0]
        before = -1
        while stream in self._open and before < capture.total < end:
            before = capture.total
            self._read(stream, 1)

    def _feed(self) -> None:
        assert self._input is not None
        try:
            for _ in range(WRITES):
                self._unfed = self._unfed[os.write(self._input, self._unfed[:READ_BYTES]) :]
                if not self._unfed and self._parts:
                    self._unfed = memoryview(self._parts.popleft())
                if not self._unfed:
                    break
            else:
                return
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not care for the rest
            pass
        if self._selector is not None and self._input in self._selector.get_map():
            self._selector.unregister(self._input)
        os.close(self._input)
        self._input = None

    def _hear(self) -> None:
        try:
            data = self._end.recv(READ_BYTES)
        except BlockingIOError:
            return
        except ConnectionError as error:
            raise self._interrupted() from error
        if not data:
            raise self._interrupted()
        self._held += data
        while (fields := orders.take_frame(self._held)) is not None:
            match fields:
                case [orders.HERE, pid]:
                    self._keeper.pid = int(pid)
                case [orders.ALIVE, pid, seconds]:
                    self._leader = int(pid)
                    try:
                        self._listen()
                    except OSError as error:  # too many open files
                        raise refused(self._command, str(error.strerror)) from error
                    self._began = trio.current_time() - float(seconds)
                    self._expect_its_end(0.0)
                case [orders.WAITED, seconds]:
                    self._expect_its_end(float(seconds))
                case [orders.FAILED, stage, number]:
                    self.keeper_is_idle = stage.decode() != orders.KEEPER
                    raise not_started(self._command, stage.decode(), int(number))
                case [orders.ENDED, *_]:
                    self._ended = orders.read_ended(fields)
                    self.keeper_is_idle = not self._ended.left

    # -- what follows from it

    def _expect_its_end(self, waited: float) -> None:
        wall = self._command.bounds.wall_seconds
        if self._stopped_for is None and wall is not None:
            self._set_deadline(self._began + wall + waited + LATE_SECONDS)

    def _stop(self, excess: Excess) -> None:
        if self._stopped_for is None and self._ended is None:
            self._stopped_for = excess
            self._set_deadline(trio.current_time() + END_SECONDS)
            with suppress(ConnectionError):  # it has gone, as we shall hear
                self._end.send(orders.framed(orders.STOP))

    def _listen(self) -> None:
        """Begins to read its output as it comes."""
        if not self._listening:
            self._listening = True
            selector = self._select()
            for stream, descriptor in self._open.items():
                selector.register(descriptor, selectors.EVENT_READ, partial(self._read, stream))

    def _close_output(self, stream: Stream) -> None:
        descriptor = self._open.pop(stream)
        if self._listening:
            self._select().unregister(descriptor)
        os.close(descriptor)

    def _told(self, ended: orders.RunEnded) -> Outcome:
        stopped_for: Excess | None = self._stopped_for
        if ended.excess:
            stopped_for = _EXCESSES[ended.excess]
        contended = ended.delay_seconds >= max(CONTENDED_SECONDS, CONTENDED_SHARE * ended.wall_seconds)
        return Outcome(
            end=Exited(ended.status) if ended.status >= 0 else Signalled(-ended.status),
            stopped_for=stopped_for,
            cpu_seconds=ended.cpu_seconds,
            wall_seconds=ended.wall_seconds,
            peak_bytes=ended.peak_bytes,
            contended=contended,
            stdout=self._captured(Stream.STDOUT),
            stderr=self._captured(Stream.STDERR),
        )

    def _captured(self, stream: Stream) -> Captured:
        return self._captures.pop(stream).captured()

    def _kill_keeper(self) -> None:
        """Kills a keeper that is stuck, as in a debugger, and would not notice that we close its socket. It is alive,
        since otherwise its socket would have ended; so the process number is still its own."""
        if self._keeper.pid is not None:
            with suppress(ProcessLookupError):  # just now
                os.kill(self._keeper.pid, signal.SIGKILL)

    def _interrupted(self) -> Interrupted:
        """If keeper and launcher were killed together, only we can end the run."""
        if self._leader is not None:
            with suppress(ProcessLookupError, PermissionError):  # as it should be
                os.killpg(self._leader, signal.SIGKILL)
        return Interrupted(f"{self._command.argv[0]} was interrupted: the launcher that ran it ended; run it again")


_EXCESSES: dict[str, Excess] = {
    orders.CPU: "cpu",
    orders.WALL: "wall",
    orders.MEMORY: "memory",
    orders.PROCESSES: "processes",
    orders.FILES: "files",
    orders.HIDDEN: "hidden",
}
