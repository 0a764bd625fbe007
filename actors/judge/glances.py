"""Glances at a case's files before its program begins and when it has ended, to tell which versions it has run with.

    begin      before the case is prepared: its answer is read, and its input copied if the program is given a copy
    before     when its turn comes, just before the program begins; where a look takes a while, the first one has to do
    ended      when it has ended
"""

from collections.abc import Callable
from functools import partial

from actors.judge.given import Folders, Names, Stamps, Turn, Used


class Glances:
    def __init__(self, folders: Folders, task: Names, index: int, first: Stamps) -> None:
        self._folders = folders
        self._case = task, index
        self._first = self._last = first
        """The last one before the program began."""

    @classmethod
    async def begin(cls, folders: Folders, task: Names, index: int) -> "Glances":
        first = folders.stamps_at_once(task, index) or await folders.stamps(task, index)
        return cls(folders, task, index, first)

    def before(self, turn: Turn) -> Turn:
        return LookingTurn(turn, self._look)

    def _look(self) -> None:
        self._last = self._folders.stamps_at_once(*self._case) or self._last

    async def ended(self, *, answer: bytes | None, is_copied: bool) -> Used:
        """`answer`: the digest of the answer, if that was known before the first look. `is_copied`: the input."""
        end = self._folders.stamps_at_once(*self._case) or await self._folders.stamps(*self._case)
        given = (self._first if is_copied else self._last).given
        return Used(
            main=self._last.main if self._last.main == end.main else None,
            given=given if given == end.given else None,
            wanted=answer or (self._first.wanted if self._first.wanted == end.wanted else None),
        )


class LookingTurn:
    """A turn at which somebody looks just before the program begins."""

    def __init__(self, turn: Turn, look: Callable[[], None]) -> None:
        self._turn = turn
        self._look = look

    def come(self, begin: Callable[[], None]) -> None:
        self._turn.come(partial(self._begin, begin))

    def over(self) -> None:
        self._turn.over()

    def _begin(self, begin: Callable[[], None]) -> None:
        self._look()
        begin()
