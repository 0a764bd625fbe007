"""Compares texts in a process of its own.

To compare two long texts takes up to a second of pure computing. In a thread it would hold the interpreter, and so slow
down every answer of the server; here it costs a processor at most, and with the lowest claim to it.

Rules
  - There is one process, made when it is first needed; one comparison at a time.
  - A comparison that is not over in time ends with its process, and the next one gets another.
  - The process ends when its socket does, so it does not outlive the server, however that ends.
"""

import os
import socket
import subprocess
import sys
from contextlib import suppress

import msgspec
import trio

from codec.ipc import Scores
from transports.process.programs import clean_env

SECONDS = 10.0
"""For one comparison; the largest take less than one on a free processor."""
MOST_BYTES = 65_536
PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from transports.ipc.scoring import work; work()"


class ScoringProcess:
    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: trio.Process | None = None
        self._end: trio.socket.SocketType | None = None
        self._turn = trio.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def scores(self, answer: str, expected: str) -> Scores | None:
        """None: it took too long, or the process has been killed."""
        question = msgspec.json.encode([answer, expected]) + b"\n"
        async with self._turn:
            try:
                with trio.move_on_after(self._seconds):
                    end = self._end or await self._open()
                    told = memoryview(question)
                    while told:
                        told = told[await end.send(told) :]
                    found = await _line(end)
                    if found:
                        return msgspec.json.decode(found, type=Scores)
            except (OSError, ValueError):  # it has ended, or has written something else
                pass
            except BaseException:
                self.rest()
                raise
            self.rest()
            return None

    def rest(self) -> None:
        if self._end is not None:
            self._end.close()
            self._end = None
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.kill()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # about a millisecond
            process.poll()

    async def _open(self) -> trio.socket.SocketType:
        ours, theirs = trio.socket.socketpair()
        with theirs:
            try:
                self._process = await trio.lowlevel.open_process(
                    [sys.executable, "-I", "-c", PROGRAM, *sys.path],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    env=clean_env(),
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
        self._end = ours
        return ours


async def _line(end: trio.socket.SocketType) -> bytes:
    """Without its newline; empty, if it has ended before."""
    found = bytearray()
    while not found.endswith(b"\n"):
        more = await end.recv(MOST_BYTES)
        if not more:
            return b""
        found += more
    return bytes(found)


def work() -> None:
    """What the process does."""
    from codec.ipc import scores

    with suppress(OSError):
        os.nice(19)
    with socket.socket(fileno=0) as end:
        end.setblocking(True)  # it comes from trio, whose sockets do not block
        with end.makefile("rwb") as lines, suppress(OSError):
            for line in lines:
                answer, expected = msgspec.json.decode(line, type=tuple[str, str])
                lines.write(msgspec.json.encode(scores(answer, expected)) + b"\n")
                lines.flush()
