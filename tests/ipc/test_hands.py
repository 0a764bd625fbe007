"""How many requests are in hand, and when the next one may run."""

from types import SimpleNamespace
from typing import Any

import trio

from actors.ipc.command import CommandOver, CommandRan, KnownBefore
from actors.ipc.hands import Hands


class PaperCrowd:
    """Starts whatever it is asked for. It is its own registry."""

    def get(self, key: object) -> Any:
        return self

    async def start_child(self, spec: object) -> Any:
        await trio.lowlevel.checkpoint()
        return object()


async def test_one_whose_handler_has_ended_makes_room_for_another_once() -> None:
    means: Any = SimpleNamespace(terms=SimpleNamespace(concurrency=2))
    crowd: Any = PaperCrowd()
    begun: list[Any] = []
    hands = Hands(means, crowd, begun.append, lambda: None)
    for id in "ab":  # noqa: A001
        assert hands.have_room
        assert await hands.start(id, KnownBefore())
    assert (hands.have_room, hands.running, [*hands]) == (False, 2, ["a", "b"])
    assert hands.heard_ran(CommandRan("a", lost=True))
    assert (hands.have_room, hands.running, hands.lost) == (True, 1, 1)
    for id in ("a", "nobody"):  # noqa: A001
        assert not hands.heard_ran(CommandRan(id))
    assert (hands.running, hands.lost) == (1, 1)
    hands.heard_over(CommandOver("a", heard=0))
    for ref, running in zip(begun, (1, 0), strict=True):
        ended = hands.ended(ref)
        assert ended is not None
        assert (hands.running, hands.ended(ref), hands.have_room) == (running, None, True)
        assert ended.look_again is (ended.id == "b"), "of b nobody knows how it has ended"
