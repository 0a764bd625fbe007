"""A command, its limits, and its outcome. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

KIB, MIB = 1024, 1024 * 1024

Excess = Literal["cpu", "wall", "memory", "output", "processes", "files", "hidden", "interference"]
"""`hidden`: its use could not be seen. `interference`: it attacked the programs that run it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no limit."""

    cpu_seconds: float | None = None
    """CPU time of all its processes together. It is the fair limit, while wall time depends on how busy the machine
    is."""
    wall_seconds: float | None = None
    """Time in which it could run. Waiting for processors does not count, on systems that report it."""
    memory_bytes: int | None = None
    """Memory of all its processes together; shared memory counts once."""
    processes: int | None = 512
    """Processes at the same time."""
    file_bytes: int | None = None
    """Bytes that it may write to files. Beyond this, a write to a single file fails or the program gets SIGXFSZ; if
    several files together exceed it, the program is stopped."""
    output_bytes: int = MIB
    """Bytes of its standard output that are kept: all of it, or its beginning and its end."""
    stderr_bytes: int = 256 * KIB
    flood_bytes: int | None = 64 * MIB
    """A program that writes more than this to one of the two is stopped."""


@dataclass(frozen=True, slots=True)
class Command:
    argv: Sequence[str]
    """The first is the program's path, or its name on the PATH of `env`."""
    cwd: Path
    env: Mapping[str, str]
    """The complete environment; see `clean_env`."""
    stdin: bytes | tuple[bytes, ...] | Path = b""
    """The input, in one or several parts. If it is a path, the program reads that file itself, whatever its size."""
    limits: Limits = field(default_factory=Limits)


class Stream(Enum):
    STDOUT = "stdout"
    STDERR = "stderr"


@dataclass(frozen=True, slots=True)
class Exited:
    code: int


@dataclass(frozen=True, slots=True)
class Signalled:
    number: int


@dataclass(frozen=True, slots=True)
class Captured:
    """A program's output: all of it in `head`, or its beginning in `head` and its end in `tail`."""

    head: bytes
    tail: bytes
    total: int

    @property
    def lost(self) -> int:
        """How many bytes between head and tail were not kept."""
        return self.total - len(self.head) - len(self.tail)


NOTHING = Captured(b"", b"", 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    end: Exited | Signalled
    """The end of the started process. Processes that it started itself were ended with it."""
    stopped_for: Excess | None
    """The limit for which we stopped it; None: it ended by itself, or by another process's signal."""
    cpu_seconds: float
    """CPU time of all its processes."""
    wall_seconds: float
    peak_bytes: int
    """The largest memory of one of its processes, or of all of them at the same moment."""
    contended: bool
    """Whether it waited for a processor for a good part of its time, so that its wall time says little."""
    stdout: Captured
    stderr: Captured
