"""`troupe record ROOM FILE`: records what a room's screens are shown, from now until Ctrl-C.

It joins the room as one more screen, under a name of its own. So it sees what every page sees, and pages see it in the
list of peers. A room never waits for a screen: if this one cannot keep up, it is shown the whole board again, and the
recording contains that.

Rules
  - A line is written whole, at most `FLUSH` seconds after its message came. A kill loses no more than that.
  - At most `CHUNK` bytes and one message are kept in memory. While the file accepts nothing, nothing is received.
  - If the server goes away, the command waits for it. Then it records the board that it finds; the clock has run on.
  - The file is made only after the room has been entered, and nothing is replaced without `--force`.
"""

import errno
import sys
from collections.abc import Callable
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TextIO, TypeVar

import trio

from actors.kernel import PeerGone
from codec.sidekick.recording import entry_line, header_line
from program.arguments import Record
from program.status import INTERVAL, Status
from program.trouble import WENT_WRONG, Trouble
from program.visiting import Finish, Means, Visit, address, lasting, number_of, run

FLUSH = 0.5
CHUNK = 1024 * 1024
FIRST_WAIT, LONGEST_WAIT = 0.25, 4.0
"""Seconds between two attempts to find the server again. The wait doubles from the first value up to the second."""
GOODBYE = 2.0
PEER = "recorder"

T = TypeVar("T")


def record(command: Record, means: Means, out: TextIO | None = None) -> int:
    """Records until Ctrl-C, or until the file has reached its limit. Returns the exit code."""
    return run(_Recorder(command, means, Status(out or sys.stderr)).work)


class _Recorder:
    def __init__(self, command: Record, means: Means, status: Status) -> None:
        self._command = command
        self._means = means
        self._status = status
        self._peer = f"{PEER}-{means.new_id()}"
        self._tape: _Tape | None = None
        self._messages = 0
        self._started = 0.0
        self._full = False
        self._away = False
        """Whether the server has gone and not been heard from since."""

    async def work(self, stop: Finish) -> int:
        try:
            await self._listen_on(stop)
        finally:
            if self._tape is not None:
                self._tape.close()
        if self._tape is None:
            return stop.code
        self._status.say(self._summary(self._tape))
        return 0

    async def _listen_on(self, stop: Finish) -> None:
        wait = FIRST_WAIT
        while True:
            url = self._address()  # looked up each time: a restarted server may have another port
            try:
                if url is not None:
                    async with self._means.enter(url, self._command.room) as visit:
                        with stop.waiting():  # opening a pipe waits for its reader
                            await self._begin()
                        if self._tape is not None:
                            await self._listen(visit, stop)
            except PeerGone as gone:
                if self._tape is None:
                    raise Trouble(f"Nothing can be recorded: {gone}", code=WENT_WRONG) from None
                if not self._away:
                    self._away, wait = True, FIRST_WAIT
                    self._status.say(f"The server has gone ({gone}); waiting for it to come back. Ctrl-C ends it")
            if stop.asked or self._full or (self._tape is not None and self._tape.reader_left):
                return
            with stop.waiting():
                await trio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _address(self) -> str | None:
        try:
            return address(self._command.url, self._command.state_dir)
        except Trouble:
            if self._tape is None:
                raise
            return None

    async def _begin(self) -> None:
        if self._tape is not None:
            return
        room = self._command.room
        self._started = trio.current_time()
        self._tape = await _Tape.open(self._command)
        self._tape.add(header_line(room, self._means.wall()))
        limit = f", or at {self._command.max_bytes:,} bytes" if self._command.max_bytes else ""
        self._status.say(f"Recording room {room} to {self._tape.name}; Ctrl-C ends it{limit}")

    async def _listen(self, visit: Visit, stop: Finish) -> None:
        tape, announce = self._tape, self._means.announce
        assert tape is not None
        try:
            await visit.send(announce(self._peer, "sidekick", "online"))
            await self._take(visit, tape, stop)
        finally:
            await tape.flush()
        with trio.move_on_after(GOODBYE):
            await visit.send(announce(self._peer, "sidekick", "offline"))

    async def _take(self, visit: Visit, tape: "_Tape", stop: Finish) -> None:
        most = self._command.max_bytes
        shown_at, flushed_at = float("-inf"), trio.current_time()
        while not stop.asked and not tape.reader_left:
            until = flushed_at + FLUSH if tape.waiting else float("inf")
            with stop.waiting(min(until, shown_at + INTERVAL) if self._status.live else until):
                message = await visit.receive()
                line = entry_line(trio.current_time() - self._started, message)
                if most and tape.size + len(line) > most:
                    self._full = True
                    return
                tape.add(line)
                self._messages += 1
                if self._away:
                    self._away = False
                    self._status.say("The server is back; the recording continues")
            now = trio.current_time()
            if tape.waiting >= CHUNK or (tape.waiting and now >= flushed_at + FLUSH):
                await tape.flush()
                flushed_at = trio.current_time()
            elif not tape.waiting:
                flushed_at = now
            if self._status.live and now >= shown_at + INTERVAL:
                self._status.show(f"{number_of(self._messages, 'message')}, {lasting(now - self._started)}")
                shown_at = now

    def _summary(self, tape: "_Tape") -> str:
        so_long = lasting(trio.current_time() - self._started)
        size = f"{tape.name} ({tape.size:,} bytes)"
        full = ", which is its limit; --max-bytes allows more" if self._full else ""
        return f"Recorded {number_of(self._messages, 'message')} in {so_long}: {size}{full}"


class _Tape:
    """The file. Added lines wait in memory until `flush`."""

    def __init__(self, file: FileIO, name: str) -> None:
        self.name = name
        self.size = 0
        """In bytes, with the lines that wait."""
        self.waiting = 0
        self.reader_left = False
        """Whether the reader of a pipe has left, as in `troupe record demo - | head`."""
        self._file = file
        self._lines: list[bytes] = []

    @classmethod
    async def open(cls, command: Record) -> "_Tape":
        path = command.file
        if path is None:
            return cls(FileIO(sys.stdout.fileno(), "wb", closefd=False), "standard output")
        return cls(await _in_thread(partial(_made, path, command.force)), str(path))

    def add(self, line: bytes) -> None:
        self._lines.append(line)
        self.waiting += len(line)
        self.size += len(line)

    async def flush(self) -> None:
        data, self._lines, self.waiting = b"".join(self._lines), [], 0
        if not data or self.reader_left:
            return
        try:
            await _in_thread(partial(_write_all, self._file, data))
        except BrokenPipeError:
            self.reader_left = True
        except OSError as error:
            raise Trouble(
                f"{self.name} cannot be written any further: {error.strerror}; what was recorded so far is in it",
                code=WENT_WRONG,
            ) from None

    def close(self) -> None:
        self._file.close()


def _made(path: Path, force: bool) -> FileIO:
    try:
        if path.is_dir():
            raise Trouble(f"{path} is a folder; expected the name of the file to make, such as {path / 'demo.jsonl'}")
        return FileIO(path, "wb" if force else "xb")
    except FileExistsError:
        raise Trouble(f"{path} exists already; name another file, or replace it with --force") from None
    except FileNotFoundError:
        raise Trouble(f"There is no folder {path.parent} to put the recording in; make it first") from None
    except OSError as error:
        raise Trouble(f"{path} cannot be made: {error.strerror}") from None


async def _in_thread(work: Callable[[], T]) -> T:
    """Runs `work` in a thread, because a disk may be slow and a pipe full. If we are ended, the thread is left
    behind."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


def _write_all(file: FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = file.write(rest)
        if written is None:
            raise OSError(errno.EAGAIN, "it takes nothing at the moment")
        rest = rest[written:]
