"""How far a program may go, and how its run went. Values only.

The caller that wants a program run and the code that runs it use the same values, so nothing is put into other words on
the way: the judge says its bounds and reads the outcome, and what lies between (`transports/process/`) hands both on as
they are.
"""

from enum import Enum
from typing import Literal

from msgspec import Struct

KIB, MIB = 1024, 1024 * 1024

Excess = Literal["cpu", "wall", "memory", "output", "processes", "files", "hidden", "interference", "asked"]
"""What a program is stopped for. The last three: it could not be seen what it holds; with what runs it; and because who
runs it wanted so."""


class Bounds(Struct, frozen=True):
    """None: no bound."""

    cpu_seconds: float | None = None
    """Of all its processes together. Decides, where wall time only says how busy the machine was."""
    wall_seconds: float | None = None
    """While it could run: what its threads waited for processors does not count, where the system tells."""
    memory_bytes: int | None = None
    """Of all its processes together, what they share counted once."""
    processes: int | None = 512
    """At the same time."""
    file_bytes: int | None = None
    """What it may write to files. To one, beyond this a write fails, or the program is ended by SIGXFSZ; to several, it
    is stopped."""
    output_bytes: int = MIB
    """So much of its standard output is kept: all, or the first and the last half."""
    stderr_bytes: int = 256 * KIB
    flood_bytes: int | None = 64 * MIB
    """More than this, to one of the two, and it is stopped; but not for what a pipe holds, which may be its last."""
    may_hide: bool = False
    """Whether it may have processes whose use nobody sees. Their memory and files are not bounded then."""


class Stream(Enum):
    STDOUT = "stdout"
    STDERR = "stderr"


class Exited(Struct, frozen=True):
    code: int


class Signalled(Struct, frozen=True):
    number: int


class Captured(Struct, frozen=True):
    """What a program wrote: all of it in `head`, or its beginning there and its end in `tail`."""

    head: bytes
    tail: bytes
    total: int

    @property
    def lost(self) -> int:
        """How many bytes between head and tail were not kept."""
        return self.total - len(self.head) - len(self.tail)


NOTHING = Captured(b"", b"", 0)


class Outcome(Struct, frozen=True):
    end: Exited | Signalled
    """Of the process that was started. What it had started itself was ended with it."""
    stopped_for: Excess | None
    """Why it was ended from outside; None: it ended by itself, or by somebody else's signal."""
    cpu_seconds: float
    """Of all its processes."""
    wall_seconds: float
    peak_bytes: int
    """The most memory that one of its processes had, or that all were seen to have at once."""
    contended: bool
    """It waited for a processor for a good part of its time: its wall time says little."""
    stdout: Captured
    stderr: Captured

    @property
    def exit_code(self) -> int | None:
        return self.end.code if isinstance(self.end, Exited) else None

    @property
    def signal(self) -> int | None:
        return self.end.number if isinstance(self.end, Signalled) else None
