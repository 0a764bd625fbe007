"""State tables: what can happen to somebody, and what that makes of him.

A table is keyed by event, then by state: `{event: {before: after}}`. Whatever is not in it cannot happen, and raises
with the event, the state and who it was; so a mistake is found where it is made, and not by what follows from it. Code
that is too hot to look anything up keeps its table all the same: its tests drive it through the whole of that.

ARCHITECTURE shows every table of the house as `drawing` draws it; a test compares.
"""

import enum
from collections.abc import Mapping
from typing import Generic, TypeVar

from actors.kernel.errors import IllegalMove

E = TypeVar("E", bound=enum.Enum)
S = TypeVar("S", bound=enum.Enum)


class Table(Generic[E, S]):
    __slots__ = ("moves", "of")

    def __init__(self, of: str, moves: Mapping[E, Mapping[S, S]]) -> None:
        """`of`: whose states these are, in words."""
        self.of = of
        self.moves = moves

    def after(self, event: E, state: S, who: object) -> S:
        try:
            return self.moves[event][state]
        except KeyError:
            raise IllegalMove(who, event, state, self.befores(event)) from None

    def befores(self, event: E) -> list[S]:
        """To whom it can happen."""
        return list(self.moves.get(event, ()))

    def becomes(self, state: S) -> dict[E, S]:
        """What can happen in this state, and what is then; a state that has none is the end."""
        return {event: moves[state] for event, moves in self.moves.items() if state in moves}

    @property
    def states(self) -> list[S]:
        """In the order of their enumeration."""
        return list(type(next(iter(next(iter(self.moves.values()))))))

    def drawing(self) -> str:
        """A line for each state: what can happen, and what is then."""
        width = max(len(state.value) for state in self.states)
        return "\n".join(f"    {state.value:{width}}  {self._arrows(state)}" for state in self.states)

    def _arrows(self, state: S) -> str:
        arrows = (f"--{event.value}--> {after.value}" for event, after in self.becomes(state).items())
        return "   ".join(arrows) or "(the end)"
