"""What is said between a room and our own page of the board as a whole. Neither scripts nor released pages speak of it.

    page    {"component": "board", "type": "follow"}     tell me how the board is, and whenever that changes
            {"component": "board", "type": "clear"}      take everything off the board
    room    {"component": "board", "type": "state", "payload": {"scripts": 1, "drawnAt": 1700000000000}}

A reader who clears the board takes away what scripts believe to be there. Each of them is told so, of what was its own,
as the protocol has it: by an error from the component. What a script then says of it is refused, as it would be of
anything that is not there; but it is told of that once, and pages are not, for a script draws in a loop, and the reader
knows.
"""

from collections.abc import Iterable

import msgspec

from actors.sidekick.member import Member
from actors.sidekick.scene import Scene
from codec.sidekick import Fault, Other
from codec.sidekick.wording import sentence

BOARD, FOLLOW, CLEAR = "board", "follow", "clear"
MOST_TOLD = 64
"""Components of one script, of which it is told at once."""
GONE = "a reader has cleared the board; spawn it again to go on with it"


class State(msgspec.Struct, frozen=True, rename="camel"):
    scripts: int
    drawn_at: int | None
    """In milliseconds since 1970; null: there is nothing on the board."""


def state_message(state: State) -> Other:
    raw = msgspec.json.encode({"id": 0, "component": BOARD, "type": "state", "payload": state})
    return Other(BOARD, "state", raw=raw)


class Cleared:
    """What a reader has taken away, and who has been told."""

    def __init__(self) -> None:
        self._gone: dict[str, bool] = {}  # by id: whether its script has been told

    def take(self, scene: Scene, owners: Iterable[tuple[object, Member]]) -> None:
        """Take all of it, and tell those heroes."""
        standing = scene.standing()
        scene.empty()
        self._gone = dict.fromkeys((target for _, target, _ in standing), False)
        for owner, hero in owners:
            own = [(kind, target) for kind, target, whose in standing if whose == owner][:MOST_TOLD]
            hero.tell(*[Fault(kind, target, _sentence(kind, target)) for kind, target in own])
            self._gone.update((target, True) for _, target in own)

    def refusal(self, component: str, target: str, scene: Scene) -> str | None:
        """What to tell a script that goes on with what was taken; "" if it knows. None: it is not about that."""
        told = self._gone.get(target)
        if told is None:
            return None
        if scene.owner(target) is not None:  # it was spawned again
            del self._gone[target]
            return None
        self._gone[target] = True
        return "" if told else _sentence(component, target)

    def forget(self) -> None:
        """The scripts that knew of it have gone."""
        self._gone.clear()


def _sentence(component: str, target: str) -> str:
    return sentence(component, target, "removed", GONE)
