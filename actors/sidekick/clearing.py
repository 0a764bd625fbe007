"""The messages between a room and our own page about the board as a whole. Scripts and released pages do not use them.

    page    {"component": "board", "type": "follow"}     send the state of the board now, and whenever it changes
            {"component": "board", "type": "clear"}      take everything off the board
    room    {"component": "board", "type": "state", "payload": {"scripts": 1, "drawnAt": 1700000000000}}
            with "showing": true, while the board has not yet been shown to this page; then it is sent once more behind
            the board

When a reader clears the board, components disappear that scripts believe to exist. Each script is told about its own
components in the protocol's way: by errors from the components. Further messages about them are refused, as for any
component that does not exist. The script is told that only once, because scripts draw in loops. Pages are not told at
all, because their reader knows.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from actors.sidekick.member import Member
from actors.sidekick.scene import Scene
from codec.sidekick import Fault, Other
from codec.sidekick.wording import sentence

BOARD, FOLLOW, CLEAR = "board", "follow", "clear"
MOST_TOLD = 64
"""For how many of its components a script is told at the moment of clearing."""
GONE = "a reader has cleared the board; spawn it again to go on with it"


class BoardState(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    scripts: int
    drawn_at: int | None
    """When the board was last drawn on, in milliseconds since 1970. null: there is nothing on the board."""
    showing: bool = False
    """The page is still to be shown the board, or a part of it."""


def state_message(state: BoardState, *, showing: bool) -> Other:
    told = replace(state, showing=showing)
    raw = msgspec.json.encode({"id": 0, "component": BOARD, "type": "state", "payload": told})
    return Other(BOARD, "state", raw=raw)


class Cleared:
    """The components that a reader has cleared away, and whether their scripts have been told."""

    def __init__(self) -> None:
        self._gone: dict[str, bool] = {}  # by id: whether the component's script has been told

    def take(self, scene: Scene, owners: Iterable[tuple[object, Member]]) -> None:
        """Take everything off the board, and tell these heroes about their own components."""
        standing = scene.standing()
        scene.empty()
        self._gone = dict.fromkeys((target for _, target, _ in standing), False)
        for owner, hero in owners:
            own = [(kind, target) for kind, target, whose in standing if whose == owner][:MOST_TOLD]
            hero.tell(*[Fault(kind, target, _sentence(kind, target)) for kind, target in own])
            self._gone.update((target, True) for _, target in own)

    def spawned(self, target: str) -> None:
        """There is such a component again. What goes wrong with it from now on has nothing to do with the reader."""
        self._gone.pop(target, None)

    def refusal(self, component: str, target: str) -> str | None:
        """The error for a script that goes on with a component that was cleared away, or "" if the script has been told
        before. None: the component was not cleared away."""
        told = self._gone.get(target)
        if told is None:
            return None
        self._gone[target] = True
        return "" if told else _sentence(component, target)

    def forget(self) -> None:
        """The scripts that knew the cleared components have gone."""
        self._gone.clear()


def _sentence(component: str, target: str) -> str:
    return sentence(component, target, "removed", GONE)
