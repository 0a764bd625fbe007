"""The messages between the server and a keeper. Pure; both sides import it.

A message is a frame: four bytes of length, then fields separated by NUL, which cannot occur in arguments, environments
or paths.

    server -> keeper                          keeper -> server
                                              here PID                the keeper's own; once, before anything else
    run  (with the descriptors of its         failed STAGE ERRNO      it was not started
         stdin, stdout, stderr, folder)       alive PID SECONDS       the leader's; how long it has been running
    stop                                      waited SECONDS          how long its threads have waited for processors:
                                                                      its wall time ends that much later
                                              ended ...               it and all it had started are gone

A `stop` that comes when nothing runs is late, and ignored. Frames come in order, so it cannot hit the next run. If a
keeper cannot be forked, the launcher sends `failed keeper` in its place, and nothing else follows.
"""

MOST_BYTES = 128 * 1024
"""The largest frame."""

READY = b"ready"
"""The launcher's own message, which it sends once."""
KEEPER_WANTED, ASK = b"k", b"a"
"""What the server says to the launcher: a keeper for the descriptor that comes with it; is anything left of what this
keeper ran? Its number follows, and is the answer, when nothing is."""
PID_BYTES = 4

STOP, RUN, HERE, FAILED, ALIVE, WAITED, ENDED = b"stop", b"run", b"here", b"failed", b"alive", b"waited", b"ended"

CPU, WALL, MEMORY, PROCESSES, FILES, HIDDEN = "cpu", "wall", "memory", "processes", "files", "hidden"
"""The reasons for which a keeper stops a run."""

CWD, STDIN, NETWORK, PROGRAM, KEEPER = "cwd", "stdin", "network", "program", "keeper"
"""The stages at which a start can fail; the last one means that there is no keeper."""


class Order:
    """A program to be run. Without `stdin` its standard input is the first of the descriptors that come with it;
    without `cwd` its folder is the last."""

    __slots__ = (
        "ahead", "argv", "cpu_seconds", "cwd", "env", "file_bytes", "may_hide", "memory_bytes", "offline", "processes",
        "stdin", "wall_seconds",
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
        offline: bool = False,
        may_hide: bool = False,
        ahead: bool = False,
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
        self.offline = offline  # without a network
        self.may_hide = may_hide
        self.ahead = ahead  # its interpreter may be started before it is needed; see `standby.py`

    def frame(self) -> bytes:
        limits = (self.cpu_seconds, self.memory_bytes, self.processes, self.file_bytes, self.wall_seconds)
        written = [b"" if limit is None else repr(limit).encode() for limit in limits]
        allowed = b"%d" % self.offline, b"%d" % self.may_hide, b"%d" % self.ahead
        return framed(RUN, self.cwd, self.stdin, *written, *allowed, b"%d" % len(self.argv), *self.argv, *self.env)


def read_order(fields: list[bytes]) -> Order:
    _, cwd, stdin, cpu, memory, processes, file_bytes, wall, offline, may_hide, ahead, count, *rest = fields
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
        offline=offline == b"1",
        may_hide=may_hide == b"1",
        ahead=ahead == b"1",
    )


class RunEnded:
    """The outcome of a run."""

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


def read_ended(fields: list[bytes]) -> RunEnded:
    _, status, excess, cpu, wall, delay, peak, left = fields
    return RunEnded(int(status), excess.decode(), float(cpu), float(wall), float(delay), int(peak), left == b"1")


def framed(*fields: bytes) -> bytes:
    body = b"\0".join(fields)
    return len(body).to_bytes(4, "big") + body


def take_frame(held: bytearray) -> list[bytes] | None:
    """Removes the first frame from `held` and returns its fields; None if the frame is not complete yet."""
    if len(held) < 4:
        return None
    end = 4 + int.from_bytes(held[:4], "big")
    if len(held) < end:
        return None
    body = bytes(held[4:end])
    del held[:end]
    return body.split(b"\0")
