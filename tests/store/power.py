"""A grid whose power goes at chosen moments of an asynchronous story, over a store on a disk that forgets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import trio

from actors.kernel.testing import House
from actors.store import mark
from tests.store.forgetful import ForgetfulDatabase


class Grid:
    """The power goes at the moments of these numbers."""

    def __init__(self, cut_at: frozenset[int]) -> None:
        self.cut_at = cut_at
        self.moments = 0
        self.cuts = 0
        self.house: House | None = None

    async def moment(self) -> None:
        """While a house stands: at its start and when it leaves, there is nothing yet, and nothing more, to cut."""
        if self.house is not None:
            number = self.moments
            self.moments += 1
            if number in self.cut_at:
                self.cuts += 1
                self.house.root.kill()
                await trio.sleep_forever()
        await trio.lowlevel.checkpoint()


@contextmanager
def in_the_grid(grid: Grid, *calls: tuple[type, str]) -> Iterator[None]:
    """There is a moment before each of these calls, methods of these classes, and one after it. Each start is another
    one of the machine."""

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        async def moments(*args: Any, **options: Any) -> Any:
            await grid.moment()
            found = await call(*args, **options)
            await grid.moment()
            return found

        return moments

    starts = iter(range(1, 1 << 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.store.store.Database", ForgetfulDatabase)
        patch.setattr("actors.store.database.LOG_BYTES", 1 << 17)
        patch.setattr(mark, "_boot", lambda: next(starts).to_bytes(16, "big"))
        for place, name in calls:
            patch.setattr(place, name, watched(getattr(place, name)))
        yield
