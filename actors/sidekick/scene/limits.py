"""How much one board may hold, and the budget from which all of it is paid.

What is counted is an estimate: a retained message costs its bytes and a constant for the objects around it, a text its
characters at the widest. What a component costs when it comes, it gives back when it goes, so that the sum over all
components is always what the budget is short of.
"""

from dataclasses import dataclass

from codec.sidekick import Other, Remove, Spawn, Update
from codec.sidekick.wording import sentence


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one scene. Past `strokes`, `lines` and `characters` the oldest is forgotten; past the others the message is
    refused."""

    memory: int = 64 * 1024 * 1024
    components: int = 10_000
    depth: int = 64
    """Containers inside containers."""
    cells: int = 1_000_000
    """Of one grid."""
    buffers: int = 256
    """Of one canvas."""
    strokes: int = 100_000
    """Of one canvas, since what was drawn before was cleared or covered."""
    lines: int = 10_000
    characters: int = 1_000_000
    """Of one console, as its lines."""
    unknown: int = 256
    """Of one component, and of the board: messages that we do not understand."""


class Budget:
    """What is left of a scene's memory. Whoever retains something takes it from `left`, and looks first."""

    __slots__ = ("left", "limits")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.memory

    @property
    def spent(self) -> int:
        return self.limits.memory - self.left

    def refusal(self, message: Spawn | Update | Other) -> str:
        return refused(
            message, f"the board is full ({self.limits.memory:,} bytes): clear or remove what is no longer needed"
        )


def refused(message: Spawn | Update | Remove | Other, wrong: str) -> str:
    """Why this message is not done, in the words in which the codec says what is wrong with one."""
    match message:
        case Update(action=doing) | Other(type=doing):
            pass
        case Spawn():
            doing = "spawn"
        case Remove():
            doing = "remove"
    return sentence(message.component, message.target or "", doing, wrong)
