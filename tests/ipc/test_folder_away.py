"""While the folder is away, or its disk is full, no attempt's time runs out, and once that is over nobody rests any
longer: each request is answered at its first attempt, and its command runs once.

Both real ends are there, over a folder on paper, and the clock is virtual.
"""

from collections import Counter
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.client_steps import State
from actors.ipc.handlers import CommandContext, KnownCommand
from codec.ipc import Dialect
from tests.ipc.both_kit import both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import state_directory

ATTEMPT_SECONDS = 5.0
RUN_SECONDS = (0.0, 0.1, 3.0)
BEGIN_SECONDS = (0.0, 0.05, 0.5, 2.0)
"""From when they are dropped until the folder is away."""


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("away", [0.3, 4.0, 8.0, 14.0, 200.0])
@pytest.mark.parametrize("begin", BEGIN_SECONDS)
@pytest.mark.parametrize("trouble", ["gone", "full"])
async def test_however_long_the_folder_is_away_each_request_is_answered_at_its_first_attempt(
    autojump_clock: MockClock, dialect: Dialect, away: float, begin: float, trouble: str
) -> None:
    base, runs = PaperBase(), Counter[str]()

    async def work(params: Any, context: CommandContext) -> str:
        runs[context.request.id] += 1
        await trio.sleep(params["seconds"])
        return "done"

    with state_directory() as directory:
        async with both_ends(
            base, directory, [KnownCommand("work", work)], dialect=dialect, attempt_seconds=ATTEMPT_SECONDS
        ) as ends:
            await trio.sleep(10.0)
            for number in range(40):
                ends.desk.put(f"r{number}", "work", {"seconds": RUN_SECONDS[number % 3]})
            await trio.sleep(begin)
            if trouble == "gone":
                base.lose("it was renamed")
            base.full = trouble == "full"
            await trio.sleep(away)
            base.full = False
            if trouble == "gone":
                base.mend()
            await trio.sleep(100 * ATTEMPT_SECONDS)
            overs = [await ends.over(f"r{number}") for number in range(40)]
            assert Counter((each.state, each.begun, runs[each.id]) for each in overs) == {(State.SUCCESS, 1, 1): 40}
