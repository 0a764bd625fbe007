"""What the server and a keeper say to each other. Pure; both sides import it.

A message is a frame: four bytes of length, then fields with a NUL between them, which neither arguments nor
environments nor paths can contain.

    server -> keeper                          keeper -> server
                                              here PID                our own; once, before all else
    run  (with the descriptors of its         failed STAGE ERRNO      it was not started
         stdin, stdout, stderr)               alive PID SECONDS       its leader's; it runs for so long already
    stop                                      waited SECONDS          its threads waited for processors so long already:
                                                                      its wall time ends that much later
                                              ended ...               it and all it had started are gone

A `stop` that comes when nothing runs is late, and ignored. Frames come in order, so it cannot meet the next run.
Where no keeper could be forked, the launcher says `failed keeper` in its place, and that is all that comes.
"""

MOST_BYTES = 128 * 1024
"""The largest frame."""

READY = b"ready"
"""What the launcher itself says, once."""

STOP, RUN, HERE, FAILED, ALIVE, WAITED, ENDED = b"stop", b"run", b"here", b"failed", b"alive", b"waited", b"ended"

CPU, WALL, MEMORY, PROCESSES, FILES, HIDDEN = "cpu", "wall", "memory", "processes", "files", "hidden"
"""What a keeper stops a run for."""

CWD, STDIN, PROGRAM, KEEPER = "cwd", "stdin", "program", "keeper"
"""Where a start can fail; the last, because there is no keeper."""


class Order:
    """A program to be run. Without `stdin` its standard input is the first of the descriptors that come with it."""

    __slots__ = (
        "argv", "cpu_seconds", "cwd", "env", "file_bytes", "memory_bytes", "processes", "stdin", "wall_seconds",
    )  # fmt: skip

    def __init__(
        self,
        argv: list[bytes],
        env: list[bytes],
        cwd: bytes,
        stdin: bytes = b"",
        cpu_seconds: float | None = None,
        memory_bytes: int | None = None,
        processes: int | None = None,
        file_bytes: int | None = None,
        wall_seconds: float | None = None,
    ) -> None:
        self.argv = argv
        self.env = env  # NAME=VALUE
        self.cwd = cwd
        self.stdin = stdin
        self.cpu_seconds = cpu_seconds
        self.memory_bytes = memory_bytes
        self.processes = processes
        self.file_bytes = file_bytes
        self.wall_seconds = wall_seconds

    def frame(self) -> bytes:
        limits = (self.cpu_seconds, self.memory_bytes, self.processes, self.file_bytes, self.wall_seconds)
        written = [b"" if limit is None else repr(limit).encode() for limit in limits]
        return framed(RUN, self.cwd, self.stdin, *written, b"%d" % len(self.argv), *self.argv, *self.env)


def read_order(fields: list[bytes]) -> Order:
    _, cwd, stdin, cpu, memory, processes, file_bytes, wall, count, *rest = fields
    return Order(
        argv=rest[: int(count)],
        env=rest[int(count) :],
        cwd=cwd,
        stdin=stdin,
        cpu_seconds=float(cpu) if cpu else None,
        memory_bytes=int(memory) if memory else None,
        processes=int(processes) if processes else None,
        file_bytes=int(file_bytes) if file_bytes else None,
        wall_seconds=float(wall) if wall else None,
    )


class Ended:
    """How a run was."""

    __slots__ = ("cpu_seconds", "delay_seconds", "excess", "left", "peak_bytes", "status", "wall_seconds")

    def __init__(
        self,
        status: int,
        excess: str,
        cpu_seconds: float,
        wall_seconds: float,
        delay_seconds: float,
        peak_bytes: int,
        left: bool,
    ) -> None:
        self.status = status  # the exit code, or minus the signal
        self.excess = excess  # one of those above, or ""
        self.cpu_seconds = cpu_seconds
        self.wall_seconds = wall_seconds
        self.delay_seconds = delay_seconds  # how long its threads were ready to run, and no processor was free
        self.peak_bytes = peak_bytes
        self.left = left  # something could not be ended, and the keeper has gone

    def frame(self) -> bytes:
        seconds = (self.cpu_seconds, self.wall_seconds, self.delay_seconds)
        return framed(
            ENDED,
            b"%d" % self.status,
            self.excess.encode(),
            *(repr(each).encode() for each in seconds),
            b"%d" % self.peak_bytes,
            b"%d" % self.left,
        )


def read_ended(fields: list[bytes]) -> Ended:
    _, status, excess, cpu, wall, delay, peak, left = fields
    return Ended(int(status), excess.decode(), float(cpu), float(wall), float(delay), int(peak), left == b"1")


def framed(*fields: bytes) -> bytes:
    body = b"\0".join(fields)
    return len(body).to_bytes(4, "big") + body


def take_frame(held: bytearray) -> list[bytes] | None:
    """The fields of the first frame, which is taken out of what is held; None if it is not there in full."""
    if len(held) < 4:
        return None
    end = 4 + int.from_bytes(held[:4], "big")
    if len(held) < end:
        return None
    body = bytes(held[4:end])
    del held[:end]
    return body.split(b"\0")
