"""A crew: long-lived processes of one program, its members, each of which does one order after another.

A run (run.py) has its whole input before it starts, and its output is captured. A member is for what is asked again and
again: it keeps what it has loaded, and there is a channel of frames (frames.py) in both directions. Our program runs in
it, and no foreign one; so it needs no keeper between, and has no processes of its own.

    Foreman      the actor that owns the processes
    Crew         the interface for everything that gives orders: await crew.do(order, heard, seconds=60)
    member.py    the other side

    an order ends by               what becomes of its member
    DONE, FAILED                   it is idle, and does the next one
    LEFT                           it has grown too large, and is replaced when it is needed
    the end of the member          it is replaced; MemberLost
    the deadline                   it is killed; OrderOverdue
    something that is no frame     it is killed; MemberLost
    cancellation                   it is asked to stop, and has a moment for that; then it is killed. We do not wait
    the end of the Foreman         it is killed; MemberLost

Rules
  - Members are started when they are needed, at most so many. A caller that finds all members busy waits in a bounded
    queue. A member that nobody needs for a while is ended.
  - A member has a session of its own, an empty environment and limits on its memory. It dies with the server, also when
    that is killed: member.py says how.
  - No process is left when the Foreman has crashed: they are killed before it begins anew.
"""

import logging
import math
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import trio
from msgspec import Struct

from actors.kernel import Actor, ActorDown, ActorRef, AnySpec, ChildSpec, KernelError, Key, Registry, Reply, Timer
from transports.process.frames import DONE, FAILED, LEFT, ORDER, PART, READY, STOP, BrokenFrame, frame_of, next_frame

MOST_MEMBERS = 8
MOST_WAITING = 1_000
IDLE_SECONDS = 60.0
STOP_SECONDS = 1.0
"""For a member, to end an order that is no longer wanted."""
LENT_SECONDS = 120.0
"""To get a member, at the most: all may be at work."""
MEMORY_BYTES = 2 << 30
ORDER_CPU_SECONDS = 20.0
"""Between two signs of life."""
_READ_BYTES = 1 << 16

logger = logging.getLogger("troupe.process")

Heard = Callable[[bytes], object]
"""Called with each part of an answer. It must not wait."""


class MemberLost(KernelError):
    """The process that was at the order has ended, or was killed. The order may have been done in part."""


class OrderOverdue(MemberLost):
    """The order took too long."""


class NeverReady(MemberLost):
    """The process ended before it was ready for its first order."""


class OrderFailed(KernelError):
    """The member could not do it, and says why."""


class TooManyOrders(KernelError):
    """As many orders wait as may wait at once."""


class CrewProgram(Struct, frozen=True):
    """What the members of a crew run. `argv` is added to what member.py wants to know."""

    program: str
    argv: tuple[str, ...] = ()
    memory_bytes: int = MEMORY_BYTES
    cpu_seconds: float = ORDER_CPU_SECONDS


class CrewMember:
    """Our end of a member."""

    def __init__(self, process: trio.Process, end: socket.socket, life: int) -> None:
        self.process = process
        self.end = end
        self.idle_since = 0.0
        self.ready = False
        self.at_work = False
        """Whether it has an order that it has not answered."""
        self.borrowed = False
        """Whether somebody may be waiting for its socket."""
        self.fell = False
        """Whether it has ended by itself, or was ended by somebody else, while it was at an order."""
        self._life = life
        self._held = bytearray()
        self._broken = False

    @property
    def fit(self) -> bool:
        """Whether it can be given an order: it is connected, and has said nothing since its last answer but READY."""
        if self._broken or self.at_work:
            return False
        try:
            data = self.end.recv(_READ_BYTES)
        except BlockingIOError:
            return not self._held
        except OSError:
            return False
        self._held += data
        with suppress(BrokenFrame):
            if not self.ready and data and next_frame(self._held) == (READY, b""):
                self.ready = True
                return not self._held
        return False

    async def do(self, order: bytes, heard: Heard) -> bytes:
        self.at_work = True
        try:
            await self._send(frame_of(ORDER, order))
            while True:
                kind, body = await self._next()
                match kind:
                    case b"p":
                        heard(body)
                    case b"d" | b"l":
                        self.at_work = False
                        self._broken = kind == LEFT
                        return body
                    case b"f":
                        self.at_work = False
                        raise OrderFailed(body.decode(errors="replace"))
                    case _:
                        raise BrokenFrame(f"a frame of the kind {kind!r}")
        except (BrokenFrame, OSError, EOFError) as error:
            self._broken, self.at_work = True, False
            self.fell = not isinstance(error, BrokenFrame)
            raise (MemberLost if self.ready else NeverReady)("the process that was at it has ended") from error

    def ask_to_stop(self) -> None:
        """It is at work. If there is no room for so short a frame, it is no longer fit for anything."""
        try:
            self._broken = self._broken or self.end.send(frame_of(STOP)) < len(frame_of(STOP))
        except OSError:
            self._broken = True

    async def stopped(self) -> bool:
        """Waits for the answer to an order that was stopped."""
        with trio.move_on_after(STOP_SECONDS):
            try:
                while not self._broken:
                    kind, _ = await self._next()
                    if kind in (DONE, FAILED):
                        self.at_work = False
                        return True
                    self._broken = kind != PART
            except (BrokenFrame, OSError, EOFError):
                self._broken = True
        return False

    def kill(self) -> None:
        """The kernel does the same when its life line is closed; but a process that has just begun may not have one."""
        self._broken = True
        if self.alive:
            if self.process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):  # it has just ended
                    os.killpg(self.process.pid, signal.SIGKILL)
            os.close(self._life)
            self._life = -1
            with suppress(OSError):  # who waits for it hears its end
                self.end.shutdown(socket.SHUT_RDWR)
            if not self.borrowed:
                self.end.close()

    def lend(self) -> "CrewMember":
        self.borrowed = True
        return self

    def returned(self) -> None:
        """By whoever has borrowed it. It may have been killed meanwhile."""
        self.borrowed = False
        if not self.alive:
            self.end.close()

    @property
    def alive(self) -> bool:
        """As far as we have to do with it."""
        return self._life >= 0

    async def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[self.end.send(left) :]
            except BlockingIOError:
                self._broken = True  # until it is sent: who is cancelled here leaves half a frame
                await trio.lowlevel.wait_writable(self.end)
                self._broken = False

    async def _next(self) -> tuple[bytes, bytes]:
        while True:
            while (frame := next_frame(self._held)) is not None:
                if frame[0] != READY:
                    return frame
                self.ready = True
            await trio.lowlevel.wait_readable(self.end)
            try:
                data = self.end.recv(_READ_BYTES)
            except BlockingIOError:
                continue
            if not data:
                raise EOFError
            self._held += data


class MemberWanted(Struct, frozen=True):
    reply: Reply[CrewMember]


class MemberBack(Struct, frozen=True):
    member: CrewMember


class LookForIdle(Struct, frozen=True):
    """Ends members that nobody has needed for a while."""


ForemanMessage = MemberWanted | MemberBack | LookForIdle


class CrewStatistics(Struct, frozen=True):
    at_work: int
    idle: int
    waiting: int
    started: int
    """By this incarnation."""
    pids: tuple[int, ...]


class Foreman(Actor[ForemanMessage]):
    def __init__(
        self,
        name: Key[ForemanMessage],
        program: CrewProgram,
        *,
        most: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`most`: None means as many as there are processors for us, and at most MOST_MEMBERS."""
        self._name = name
        self._program = program
        self._most = most if most is not None else min(MOST_MEMBERS, len(os.sched_getaffinity(0)))
        self._idle_seconds = idle_seconds
        self._members: set[CrewMember] = set()
        """All that live, as far as is known."""
        self._idle: list[CrewMember] = []
        """Invariant: each is in `_members`, and nobody has borrowed it."""
        self._waiting: deque[Reply[CrewMember]] = deque()
        """Invariant: some wait => all members are borrowed, and no more may be started."""
        self._dying: set[trio.Process] = set()
        """Those that were killed, and have not been waited for."""
        self._look: Timer | None = None
        """Invariant: some are idle => not None. One for all: a member may be lent a thousand times before it is due."""
        self._started = 0

    def statistics(self) -> CrewStatistics:
        pids = tuple(sorted(member.process.pid for member in self._members))
        waiting = sum(reply.wanted for reply in self._waiting)
        return CrewStatistics(len(self._members) - len(self._idle), len(self._idle), waiting, self._started, pids)

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(self._name, self.ref)
        self.run_beside(self._live)

    def at_once(self, message: ForemanMessage) -> bool:
        match message:
            case MemberWanted(reply):
                return self._lend_idle(reply)
            case MemberBack() | LookForIdle():
                return False

    async def handle(self, message: ForemanMessage) -> None:
        match message:
            case MemberWanted(reply):
                await self._wanted(reply)
            case MemberBack(member):
                self._back(member)
                await self._serve_waiting()
            case LookForIdle():
                self._end_idle()
            case _:
                self.unknown(message)

    # -- lending

    def _lend_idle(self, reply: Reply[CrewMember]) -> bool:
        while self._idle:
            member = self._idle.pop()
            if member.fit:
                reply.set(member.lend())
                return True
            self._lose(member)
        return False

    async def _wanted(self, reply: Reply[CrewMember]) -> None:
        if self._lend_idle(reply):
            return
        if len(self._members) < self._most:
            await self._lend_new(reply)
        elif len(self._waiting) >= MOST_WAITING:
            reply.fail(TooManyOrders("too much is being asked at once; try again in a moment"))
        else:
            self._waiting.append(reply)
            reply.on_abandon(lambda: self._waiting.remove(reply) if reply in self._waiting else None)

    async def _lend_new(self, reply: Reply[CrewMember]) -> None:
        try:
            member = await self._new_one()
        except OSError as error:  # too many processes, or open files
            if reply.wanted:
                reply.fail(error)
            return
        if reply.wanted:
            reply.set(member.lend())
        else:
            self._rest(member)

    async def _serve_waiting(self) -> None:
        while self._waiting and (self._idle or len(self._members) < self._most):
            reply = self._waiting.popleft()
            if reply.wanted and not self._lend_idle(reply):
                await self._lend_new(reply)

    def _back(self, member: CrewMember) -> None:
        if member not in self._members:
            member.kill()
        elif member.at_work:
            member.ask_to_stop()
            self.run_beside(self._settle, member.lend())
        elif member.fit:
            self._rest(member)
        else:
            self._lose(member)

    async def _settle(self, member: CrewMember) -> None:
        """Its order is no longer wanted."""
        try:
            await member.stopped()
        finally:
            if member.at_work:
                member.at_work = False
                member.kill()
            member.returned()
            self.ref.hand(MemberBack(member), urgent=True)

    def _rest(self, member: CrewMember) -> None:
        member.idle_since = self.stage.now()
        self._idle.append(member)
        if self._look is None:
            self._look = self.tell_later(self._idle_seconds, LookForIdle())

    def _end_idle(self) -> None:
        self._look = None
        now = self.stage.now()
        for member in [each for each in self._idle if each.idle_since + self._idle_seconds <= now]:
            self._idle.remove(member)
            self._lose(member)
        if self._idle:
            oldest = min(member.idle_since for member in self._idle)
            self._look = self.tell_later(max(0.0, oldest + self._idle_seconds - now), LookForIdle())

    # -- the processes

    async def _new_one(self) -> CrewMember:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        reads, writes = os.pipe()
        program = self._program
        limits = (str(reads), str(program.memory_bytes), str(program.cpu_seconds))
        try:
            with theirs:
                process = await trio.lowlevel.open_process(
                    [sys.executable, "-I", "-S", "-X", "utf8", program.program, *limits, *program.argv],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                    pass_fds=(reads,),
                    env={},
                    cwd="/",
                )
        except BaseException:
            ours.close()
            os.close(writes)
            raise
        finally:
            os.close(reads)
        member = CrewMember(process, ours, writes)
        self._members.add(member)
        self._started += 1
        return member

    def _lose(self, member: CrewMember) -> None:
        self._members.discard(member)
        member.kill()
        self._dying.add(member.process)
        self.run_beside(self._bury, member.process, member.fell)

    async def _bury(self, process: trio.Process, fell: bool) -> None:
        code = await process.wait()
        self._dying.discard(process)
        if fell:
            logger.warning("a worker process has ended at its work: %s", _ended(code))

    async def _live(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._close()

    def _close(self) -> None:
        """Runs at every end of this incarnation."""
        members, self._members = self._members, set()
        self._idle.clear()
        for member in members:
            member.kill()
        for process in (*(member.process for member in members), *self._dying):
            _reap(process)
        self._dying.clear()


def _ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"


def _reap(process: trio.Process) -> None:
    """It was killed, and is gone within a millisecond."""
    if process.poll() is None:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        process.poll()


class Crew:
    """The interface for everything that gives orders."""

    def __init__(self, registry: Registry, name: Key[ForemanMessage]) -> None:
        self._registry = registry
        self._name = name

    async def do(self, order: bytes, heard: Heard = lambda part: None, *, seconds: float = 60.0) -> bytes:
        """Has a member do it, and returns what comes of it. The time counts from when one has it. Raises OrderFailed,
        MemberLost, TooManyOrders, or a KernelError of the Foreman's."""
        foreman = self._registry.get(self._name)
        try:
            member = await _lent(foreman)
        except OSError as error:  # too many open files, or processes
            raise NeverReady(f"no process can be started: {error.strerror}") from error
        try:
            with trio.move_on_after(seconds):
                return await member.do(order, heard)
            member.at_work = False
            member.kill()
            raise OrderOverdue(f"it took more than {seconds:g} seconds")
        finally:
            member.returned()
            foreman.hand(MemberBack(member), urgent=True)


async def _lent(foreman: ActorRef[ForemanMessage]) -> CrewMember:
    until = trio.current_time() + LENT_SECONDS
    while True:
        try:
            return await foreman.ask(MemberWanted, timeout=max(0.0, until - trio.current_time()))
        except ActorDown:
            if not foreman.alive or trio.current_time() > until:
                raise
            await trio.lowlevel.checkpoint()


def crew_spec(make: Callable[[], Foreman], id_: str = "crew") -> AnySpec:
    """A child of any supervisor. The end of a member is no failure of the Foreman."""
    return ChildSpec(id_, make, start_timeout=math.inf)
