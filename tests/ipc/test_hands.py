"""How many requests are in hand, and when the next one may run."""

from types import SimpleNamespace
from typing import Any

from actors.ipc.command import CommandOver, CommandRan, KnownBefore
from actors.ipc.hands import HandEnded, Hands
from actors.kernel import ChildSpec


class PaperHand:
    def hand(self, message: object) -> None:
        """Nobody reads it."""


class PaperCrowd:
    """Starts whatever it is asked for. It is its own registry."""

    def get(self, key: object) -> Any:
        return self

    def __init__(self) -> None:
        self.specs: list[ChildSpec[Any]] = []

    def begin_child(self, spec: ChildSpec[Any]) -> Any:
        self.specs.append(spec)
        return PaperHand()


def test_one_whose_handler_has_ended_makes_room_for_another_once() -> None:
    means: Any = SimpleNamespace(terms=SimpleNamespace(concurrency=2))
    crowd: Any = PaperCrowd()
    begun: list[Any] = []
    hands = Hands(means, crowd, begun.append, lambda: None)
    for id in "ab":  # noqa: A001
        assert hands.have_room
        assert hands.start(id, KnownBefore())
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


def test_news_that_comes_as_one_ends_has_it_looked_at_again_and_is_no_dead_letter() -> None:
    means: Any = SimpleNamespace(terms=SimpleNamespace(concurrency=2))
    paper = PaperCrowd()
    crowd: Any = paper
    begun: list[Any] = []
    hands = Hands(means, crowd, begun.append, lambda: None)
    for id, heard in (("a", 1), ("b", 0)):  # noqa: A001
        assert hands.start(id, KnownBefore())
        hands.stir(id)
        hands.heard_over(CommandOver(id, heard=heard))
        ended = hands.ended(begun.pop())
        assert ended is not None
        assert ended.look_again is (heard == 0)
    assert [spec.unread_is_lost for spec in paper.specs] == [False, False]


def test_one_of_which_something_was_missed_is_looked_at_again_when_it_has_ended() -> None:
    means: Any = SimpleNamespace(terms=SimpleNamespace(concurrency=9))
    crowd: Any = PaperCrowd()
    begun: list[Any] = []
    hands = Hands(means, crowd, begun.append, lambda: None)
    for missed in (True, False):
        assert hands.start("a", KnownBefore())
        if missed:
            hands.look_again("a")
        hands.heard_over(CommandOver("a", heard=0))
        assert hands.ended(begun.pop()) == HandEnded("a", CommandOver("a", heard=0), missed)
