"""State tables: which events can happen to a thing in each of its states, and what its next state is.

A table is keyed by event, then by state: `{event: {before: after}}`. A move that is not in the table is a mistake in
the code. It raises an error that names the event, the state and the thing, so the mistake is found where it is made,
and not later by its consequences. Code that runs too often to look anything up has a table all the same: its tests
drive it through the whole table.

ARCHITECTURE.md shows every table of the program as `drawing` draws it; a test compares them.
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
        """`of`: the thing whose states these are, in words."""
        self.of = of
        self.moves = moves

    def after(self, event: E, state: S, who: object) -> S:
        try:
            return self.moves[event][state]
        except KeyError:
            raise IllegalMove(who, event, state, self.befores(event)) from None

    def befores(self, event: E) -> list[S]:
        """The states in which the event can happen."""
        return list(self.moves.get(event, ()))

    def becomes(self, state: S) -> dict[E, S]:
        """The events that can happen in this state, each with the next state. A state without any is an end."""
        return {event: moves[state] for event, moves in self.moves.items() if state in moves}

    @property
    def states(self) -> list[S]:
        """All states, in the order of their enumeration."""
        return list(type(next(iter(next(iter(self.moves.values()))))))

    def drawing(self) -> str:
        """A line for each state, with an arrow to the next state for each event that can happen in it."""
        width = max(len(state.value) for state in self.states)
        return "\n".join(f"    {state.value:{width}}  {self._arrows(state)}" for state in self.states)

    def _arrows(self, state: S) -> str:
        arrows = (f"--{event.value}--> {after.value}" for event, after in self.becomes(state).items())
        return "   ".join(arrows) or "(the end)"
