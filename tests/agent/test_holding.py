"""What a client is still to be sent, beside a plain account of it."""

from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent import holding
from actors.agent.holding import Held, Holding
from actors.agent.messages import LogEntry, ShowState
from codec.agent.events import ServerPong, SessionState, Token

ENTRIES, BYTES, ANSWERS = 4, 20, 3


class PlainHolding:
    """The same in as few words as it can be said."""

    def __init__(self) -> None:
        self.behind = True
        self.items: list[Held] = []

    def _of(self, *kinds: type) -> list[Any]:
        return [item for item in self.items if isinstance(item, kinds)]

    def event(self, entry: LogEntry) -> None:
        held = self._of(LogEntry)
        if self.behind:
            return
        if len(held) == ENTRIES or sum(len(each.text) for each in (*held, entry)) > BYTES:
            self.fall_behind()
        else:
            self.items.append(entry)

    def state(self, shown: ShowState) -> None:
        if isinstance(next(reversed(self.items), None), ShowState):
            del self.items[-1]
        self.items.append(shown)

    def answer(self, message: ServerPong) -> None:
        if len(self._of(ServerPong)) < ANSWERS:
            self.items.append(message)

    def fall_behind(self) -> None:
        self.behind = True
        self.items = [*self._of(ServerPong), *self._of(ShowState)[-1:]]

    def begin_again(self) -> None:
        self.behind = False

    def take(self) -> list[Held]:
        taken, self.items = self.items, []
        return taken


ACTS = st.one_of(
    st.tuples(st.just("event"), st.integers(0, 9).map(lambda size: LogEntry(1, Token(token="a"), b"x" * size))),
    st.tuples(st.just("state"), st.integers(0, 99).map(lambda seq: ShowState(SessionState(), seq))),
    st.tuples(st.just("answer"), st.just(ServerPong())),
    st.sampled_from([("fall_behind",), ("begin_again",), ("begin_again",), ("take",)]),
)


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "MOST_ENTRIES", ENTRIES)
    monkeypatch.setattr(holding, "MOST_BYTES", BYTES)
    monkeypatch.setattr(holding, "MOST_ANSWERS", ANSWERS)


@given(st.lists(ACTS, max_size=40))
def test_whatever_comes_is_held_in_its_order_and_within_its_limits(acts: list[tuple[Any, ...]]) -> None:
    held, plain = Holding(), PlainHolding()
    for name, *given_to_it in deque(acts):
        assert getattr(held, name)(*given_to_it) == getattr(plain, name)(*given_to_it)
        assert (held.behind, len(held)) == (plain.behind, len(plain.items))
    assert held.take() == plain.items
    assert len(held) == 0
