"""`troupe replay FILE`: draws a recording again, at its own pace.

It joins the room as a script does, and sends what scripts sent: first the board of the beginning, then the changes.
Then it says goodbye, and the board stays.

    troupe record demo - | troupe replay - --room copy         shows a room twice

Rules
  - A file is read to its end before anything is drawn, so a bad line is an error and never leaves half a board.
    Standard input is drawn as it comes.
  - The replay is over when the server has accepted all of it. A last question shows this, because its answer comes
    after everything else.
  - Errors from the server (another script may be at work in that room) are counted and reported.
"""

import sys
from collections.abc import Callable
from typing import TextIO, TypeVar

import msgspec
import trio
from msgspec import Struct

from actors.kernel import PeerGone
from codec.sidekick.recording import is_room
from program.arguments import Replay
from program.reel import Reel
from program.status import INTERVAL, Status
from program.trouble import WENT_WRONG, Trouble
from program.visiting import Finish, Means, Visit, address, lasting, number_of, run

ANSWER_WITHIN = 30.0
"""Seconds in which the server must accept what is still under way."""
GOODBYE = 2.0
BAR = 24
PEER = "replay"
SERVER = "troupe"
"""The name under which the server announces itself to every hero."""

T = TypeVar("T")


def replay(command: Replay, means: Means, out: TextIO | None = None) -> int:
    """Plays the recording to its end, or until Ctrl-C. Returns the exit code."""
    return run(_Player(command, means, Status(out or sys.stderr)).work)


class Tempo:
    """Says when an entry is due. `speed` is the number of recorded seconds in one of ours; 0: everything is due at
    once."""

    def __init__(self, speed: float, max_pause: float | None) -> None:
        self._speed = speed
        self._most = float("inf") if max_pause is None else max_pause
        self._at = 0.0
        self._due = 0.0

    def due(self, at: float) -> float:
        """Seconds after the beginning; never earlier than for the previous entry."""
        if self._speed and at > self._at:
            self._due += min((at - self._at) / self._speed, self._most)
            self._at = at
        return self._due


class Survey(Struct, frozen=True):
    """The amount that there is to play in a file."""

    messages: int
    seconds: float


class _Told(msgspec.Struct):
    """The fields of the server's messages that matter here."""

    type: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class _Payload(msgspec.Struct, rename="camel"):
    peer_id: str = ""
    message: str = ""


class _Player:
    def __init__(self, command: Replay, means: Means, status: Status) -> None:
        self._command = command
        self._means = means
        self._status = status
        self._peer = f"{PEER}-{means.new_id()}"
        self._reel: Reel | None = None
        self._survey: Survey | None = None
        self._sent = 0
        """Messages sent in this round."""
        self._errors: list[str] = []
        """The texts of the server's errors; only the first is kept."""
        self._wrong = 0
        self._answered = trio.Event()
        self._gone: PeerGone | None = None
        self._broken = False
        """Whether only half a message was sent, so that nothing can follow it."""
        self._began = self._shown_at = 0.0

    async def work(self, stop: Finish) -> int:
        with stop.waiting():
            self._reel = await _in_thread(self._opened)
        if self._reel is None:
            return stop.code
        try:
            return await self._replay(self._reel, stop)
        finally:
            self._reel.close()

    async def _replay(self, reel: Reel, stop: Finish) -> int:
        room = self._command.room or reel.header.room
        if not is_room(room):
            raise Trouble(f"{reel.name} does not name a valid room; name one with --room")
        self._began = trio.current_time()
        url = address(self._command.url, self._command.state_dir)
        try:
            async with self._means.enter(url, room) as visit, trio.open_nursery() as nursery:
                nursery.start_soon(self._hear, visit, nursery.cancel_scope)
                try:
                    await self._perform(visit, stop)
                except PeerGone as gone:
                    self._gone = gone
                nursery.cancel_scope.cancel()
        except PeerGone as gone:
            self._gone = gone
        if self._gone is not None:
            raise Trouble(f"The replay ended after {self._so_far()}: {self._gone}", code=WENT_WRONG)
        self._status.say(self._summary(reel, room, stop))
        return stop.code if stop.asked and not self._is_endless else 0

    @property
    def _is_endless(self) -> bool:
        """Whether Ctrl-C is the ordinary end."""
        return self._command.loop or self._command.file is None

    def _opened(self) -> Reel:
        if self._command.file is not None:
            with Reel(self._command.file) as reel:
                self._survey = survey(reel, self._pace())
        return Reel(self._command.file)

    def _pace(self) -> Tempo:
        return Tempo(self._command.speed, self._command.max_pause)

    async def _perform(self, visit: Visit, stop: Finish) -> None:
        announce = self._means.announce
        await self._ask(visit, stop)
        await self._play(visit, stop)
        while self._command.loop and not stop.asked:
            self._reel = await _in_thread(self._opened)
            await self._play(visit, stop)
        if not self._broken:
            await self._ask(visit, stop)
            with trio.move_on_after(GOODBYE):
                await visit.send(announce(self._peer, "hero", "offline"))

    async def _ask(self, visit: Visit, stop: Finish) -> None:
        """Says hello and waits for the answer. By then the server has received everything that was sent before."""
        self._answered = trio.Event()
        await visit.send(self._means.announce(self._peer, "hero", "online"))
        with stop.waiting(trio.current_time() + ANSWER_WITHIN):
            await self._answered.wait()
        if not self._answered.is_set() and not stop.asked:
            raise Trouble(
                f"The server has not answered for {ANSWER_WITHIN:g} seconds, after {self._so_far()}; is it a Troupe?",
                code=WENT_WRONG,
            )

    async def _play(self, visit: Visit, stop: Finish) -> None:
        reel = self._reel
        assert reel is not None
        self._sent = 0
        self._began = trio.current_time()
        pace, batches = self._pace(), reel.batches()
        while not stop.asked:
            batch = None
            with stop.waiting():
                batch = await _in_thread(lambda: next(batches, None))
            if batch is None:
                break
            for entry in batch:
                if not entry.drawn:
                    continue
                await self._wait_until(self._began + pace.due(entry.at), stop)
                if stop.asked:
                    return
                await self._send(visit, entry.drawn, stop)
        reel.close()

    async def _wait_until(self, moment: float, stop: Finish) -> None:
        while True:
            now = trio.current_time()
            if self._status.live and now >= self._shown_at + INTERVAL:
                self._shown_at = now
                self._status.show(self._progress(now - self._began))
            if now >= moment or stop.asked:
                return
            with stop.waiting(min(moment, now + INTERVAL) if self._status.live else moment):
                await trio.sleep_forever()

    async def _send(self, visit: Visit, message: bytes, stop: Finish) -> None:
        with stop.waiting() as sending:
            await visit.send(message)
            self._sent += 1
        self._broken = sending.cancelled_caught

    async def _hear(self, visit: Visit, scope: trio.CancelScope) -> None:
        """Receives all messages. Otherwise the server would take us for a peer that has fallen asleep."""
        try:
            while True:
                told = msgspec.json.decode(await visit.receive(), type=_Told)
                if told.type not in ("announce", "error"):
                    continue
                payload = msgspec.json.decode(told.payload, type=_Payload)
                if told.type == "error":
                    self._wrong += 1
                    self._errors = self._errors or [payload.message]
                elif payload.peer_id == SERVER:
                    self._answered.set()
        except PeerGone as gone:
            self._gone = gone
            scope.cancel()
        except msgspec.DecodeError as error:
            self._gone = PeerGone(f"the server sent something that is not a Sidekick message ({error})")
            scope.cancel()

    def _so_far(self) -> str:
        of = f" of {self._survey.messages:,}" if self._survey else ""
        return f"{self._sent:,}{of} messages"

    def _progress(self, seconds: float) -> str:
        if self._survey is None:
            return f"{lasting(seconds)}  {number_of(self._sent, 'message')}"
        part = self._sent / self._survey.messages if self._survey.messages else 1.0
        if self._survey.seconds:
            part = min(seconds / self._survey.seconds, 1.0)
        bar = ("━" * round(part * BAR)).ljust(BAR, "─")
        return f"{bar}  {lasting(seconds)} of {lasting(self._survey.seconds)}  {self._so_far()}"

    def _summary(self, reel: Reel, room: str, stop: Finish) -> str:
        seconds = lasting(trio.current_time() - self._began)
        if stop.asked and not self._is_endless:
            said = f"Stopped after {self._so_far()}, {seconds} of room {room}"
        else:
            said = f"Replayed {number_of(self._sent, 'message')} into room {room} in {seconds}"
        if self._wrong:
            errors = number_of(self._wrong, "error")
            said += f"; {errors} came back, the first of them: {self._errors[0]}"
        if reel.torn is not None:
            said += f"; line {reel.torn} of {reel.name} is cut off and was left out"
        return said


def survey(reel: Reel, pace: Tempo) -> Survey:
    """Reads the recording to its end. Raises a Trouble if something in it is wrong."""
    messages, seconds = 0, 0.0
    for batch in reel.batches():
        for entry in batch:
            if entry.drawn:
                messages += 1
                seconds = pace.due(entry.at)
    return Survey(messages, seconds)


async def _in_thread(work: Callable[[], T]) -> T:
    """Runs `work` in a thread, because a disk may be slow and a pipe empty. If we are ended, the thread is left
    behind."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
