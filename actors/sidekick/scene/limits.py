"""Limits the memory of one board and of all boards together. Each board has a budget, and everything is paid from it.

All boards share a reserve, which grants each board its budget in pieces. So the cost of a message is nearly always paid
without asking. A board's unused budget is taken back when another board needs it.

Costs are estimates. A retained message costs its bytes plus a constant for the objects around it, and a text costs its
characters at their widest. A component gives back its whole cost when it is removed. So the part of the budget that is
spent is always the sum of the costs of all components.
"""

from collections.abc import Callable
from weakref import WeakSet

from msgspec import Struct

from codec.sidekick import Other, Remove, Spawn, Update
from codec.sidekick.wording import sentence

ALL_BOARDS = 1024 * 1024 * 1024
PIECE = 1024 * 1024
"""How many bytes are granted at a time, unless more are needed."""


class Limits(Struct, frozen=True):
    """The limits of one scene. Beyond `strokes`, `lines`, `characters` and `unknown`, the oldest is forgotten. Beyond
    the others, the message is refused."""

    memory: int = 64 * 1024 * 1024
    components: int = 10_000
    depth: int = 64
    """Of containers inside containers."""
    cells: int = 1_000_000
    """Of one grid."""
    side: int = 65_535
    pixels: int = 16_384 * 16_384
    """Of one canvas: the most that some browsers can draw."""
    buffers: int = 256
    """Of one canvas."""
    strokes: int = 100_000
    """Of one canvas, not counting strokes that were cleared or covered."""
    lines: int = 10_000
    characters: int = 1_000_000
    """Of one console, like `lines`."""
    unknown: int = 256
    """Messages that we do not understand: of one component, or, if they belong to no component, of one hero."""


class Reserve:
    """The memory that all boards share."""

    def __init__(self, memory: int = ALL_BOARDS, make_room: Callable[[], object] = lambda: None) -> None:
        """`make_room` makes an unused board drop everything. It returns None if there is no such board."""
        self.memory = memory
        self.make_room = make_room
        self._boards: WeakSet[Budget] = WeakSet()
        """Invariant: sum(board.granted for board in _boards) <= memory"""

    def join(self, board: "Budget") -> None:
        self._boards.add(board)

    def grant(self, least: int, most: int) -> int:
        """Grant `most` bytes, or less if there is less, but at least `least`. To do so, unused budgets are taken back,
        and then unused boards give way. 0: even then there are fewer than `least` bytes."""
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
    """The memory budget of a scene. Code that retains something subtracts the cost from `left`, after checking that
    there is enough."""

    __slots__ = ("__weakref__", "_reserve", "granted", "left", "limits")

    def __init__(self, limits: Limits, reserve: Reserve) -> None:
        self.limits = limits
        self.granted = 0
        self.left = 0
        """The part of `granted` that is not spent."""
        self._reserve = reserve
        reserve.join(self)

    @property
    def spent(self) -> int:
        return self.granted - self.left

    def refusal(self, message: Spawn | Update | Other, cost: int) -> str | None:
        """Get more memory for a cost that exceeds `left`. None: there is enough now. Otherwise, why the message is
        refused."""
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
        """Give back the unused part to the reserve."""
        if self.left > 0:
            self.granted -= self.left
            self.left = 0

    def end(self) -> None:
        """The scene is empty: give back everything."""
        self.granted = self.left = 0


def refused(message: Spawn | Update | Remove | Other, wrong: str) -> str:
    """The sentence that says why a message is refused, in the form in which the codec reports a bad message."""
    match message:
        case Update(action=doing) | Other(type=doing):
            pass
        case Spawn():
            doing = "spawn"
        case Remove():
            doing = "remove"
    return sentence(message.component, message.target or "", doing, wrong)
