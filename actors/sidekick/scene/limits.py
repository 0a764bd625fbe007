"""Limits the memory of one board and of all boards together, by a budget from which everything is paid.

All boards share a reserve, which grants each board its budget in pieces. So the cost of a message is nearly always paid
without asking. A board's unused budget is taken back when another board needs it.

Costs are estimates: a retained message costs its bytes plus a constant for the objects around it; a text costs its
characters at their widest. A component gives back its whole cost when it goes. So the sum over all components is always
the part of the budget that is spent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakSet

from codec.sidekick import Other, Remove, Spawn, Update
from codec.sidekick.wording import sentence

ALL_BOARDS = 1024 * 1024 * 1024
PIECE = 1024 * 1024
"""So much is granted at a time, or what is needed if that is more."""


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
    side: int = 65_535
    pixels: int = 16_384 * 16_384
    """Of one canvas: what some browser can draw."""
    buffers: int = 256
    """Of one canvas."""
    strokes: int = 100_000
    """Of one canvas, since what was drawn before was cleared or covered."""
    lines: int = 10_000
    characters: int = 1_000_000
    """Of one console, as its lines."""
    unknown: int = 256
    """Of one component, and of the board: messages that we do not understand."""


class Reserve:
    """What all boards together may hold."""

    def __init__(self, memory: int = ALL_BOARDS, make_room: Callable[[], object] = lambda: None) -> None:
        """`make_room`: some board that nobody looks at lets go of all it holds; None if there is none."""
        self.memory = memory
        self.make_room = make_room
        self._boards: WeakSet[Budget] = WeakSet()
        """Invariant: sum(board.granted for board in _boards) <= memory"""

    def join(self, board: "Budget") -> None:
        self._boards.add(board)

    def grant(self, least: int, most: int) -> int:
        """At least the one and at most the other; 0 if there is not as much, even after what no board uses has been
        taken back, and boards that nobody looks at have given way."""
        if least > self._left():
            for board in self._boards:
                board.give_back()
            while least > self._left() and self.make_room() is not None:
                pass
        left = self._left()
        return 0 if least > left else min(most, left)

    def _left(self) -> int:
        return self.memory - sum(board.granted for board in self._boards)


class Budget:
    """What is left of a scene's memory. Whoever retains something takes it from `left`, and looks first."""

    __slots__ = ("__weakref__", "_reserve", "granted", "left", "limits")

    def __init__(self, limits: Limits, reserve: Reserve) -> None:
        self.limits = limits
        self.granted = 0
        self.left = 0
        """Of what has been granted."""
        self._reserve = reserve
        reserve.join(self)

    @property
    def spent(self) -> int:
        return self.granted - self.left

    def refusal(self, message: Spawn | Update | Other, cost: int) -> str | None:
        """Why there is no room for what costs more than is left; None when room has been made."""
        missing, grantable = cost - self.left, self.limits.memory - self.granted
        if missing > grantable:
            full = f"the board is full ({self.limits.memory:,} bytes): clear or remove what is no longer needed"
            return refused(message, full)
        granted = self._reserve.grant(missing, min(max(missing, PIECE), grantable))
        if not granted:
            full = f"all boards together are full ({self._reserve.memory:,} bytes): clear or remove what is no longer"
            return refused(message, f"{full} needed, here or in another room")
        self.granted += granted
        self.left += granted
        return None

    def give_back(self) -> None:
        """What is not used."""
        if self.left > 0:
            self.granted -= self.left
            self.left = 0

    def end(self) -> None:
        """All that was held is gone."""
        self.granted = self.left = 0


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
