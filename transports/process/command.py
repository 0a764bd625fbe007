"""What is to be run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codec.programs import Bounds


@dataclass(frozen=True, slots=True)
class Command:
    argv: Sequence[str]
    """The first is the program's path, or its name on the PATH of `env`."""
    cwd: Path
    env: Mapping[str, str]
    """The complete environment; see `clean_env`."""
    stdin: bytes | tuple[bytes, ...] | Path = b""
    """One part after the other, if it is large and comes in parts. A file is read by the program itself, however large
    it is."""
    bounds: Bounds = field(default_factory=Bounds)
