"""A command that the agent runs here, and how it went. Values only."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Ending = Literal["exited", "signalled", "stopped", "not_started", "interrupted"]


class CommandOrder(Struct, frozen=True):
    """A command to be run here: a line for the shell, or words."""

    command: str | tuple[str, ...]
    root: str
    """The workspace's folder."""
    folder: str = ""
    """In which it runs, from the root."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beside what every program gets."""
    network: bool = False
    seconds: float = 120.0
    output_bytes: int = 256 << 10
    """So much of each output is kept: the first and the last half."""


class CommandOutcome(Struct, frozen=True):
    ended: Ending
    exit_code: int | None
    why: str
    """A sentence, unless it exited."""
    seconds: float
    stdout: str
    stderr: str
