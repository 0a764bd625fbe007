"""Whoever writes a request in place, and takes more than a second for it, is answered, whenever the rest comes. The
journal, the answer and failed/ agree: what was said of the half of it is not said any more.

Both real ends are there, over a folder on paper, and the clock is virtual.
"""

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.client_steps import State
from actors.ipc.given import Tray
from codec.ipc import Dialect, Success
from tests.ipc.both_kit import both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import asked, state_directory

HALF = 20
"""Bytes."""
PAUSES = [0.5 + number / 100.0 for number in range(200)]


async def write(base: PaperBase, id: str, pause: float) -> None:  # noqa: A002 - as in the contract
    whole = asked(id)
    base.foreign_put(Tray.REQUESTS, id, whole[:HALF])
    await trio.sleep(pause)
    if (Tray.REQUESTS, id) in base.files:  # else it is written into a file that is in no folder any more
        base.foreign_put(Tray.REQUESTS, id, whole)


@pytest.mark.parametrize("start", [0.0, 0.37])
async def test_the_journal_the_answer_and_failed_agree_however_late_the_rest_comes(
    autojump_clock: MockClock, start: float
) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory) as ends, trio.open_nursery() as nursery:
            await trio.sleep(10.0 + start)
            for number, pause in enumerate(PAUSES):
                nursery.start_soon(write, base, f"r{number}", pause)
            await trio.sleep(60.0)
            for number, pause in enumerate(PAUSES):
                id = f"r{number}"  # noqa: A001
                assert await ends.desk.success(id) == {"message": "pong"}, pause
                dossier = await ends.over(id)
                assert (dossier.state, dossier.begun) == (State.SUCCESS, 1), pause
                assert dossier.tried[-1].outcome == Success({"message": "pong"}), pause
                assert (Tray.FAILED, id) not in base.files, pause


async def test_in_the_dialect_of_head_they_agree_too_and_what_came_too_late_is_said(autojump_clock: MockClock) -> None:
    """There a request that cannot be read is answered and removed after a second, as the peers of that dialect do."""
    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, dialect=Dialect.HEAD) as ends, trio.open_nursery() as nursery:
            await trio.sleep(10.0)
            for number, pause in enumerate(PAUSES):
                nursery.start_soon(write, base, f"r{number}", pause)
            await trio.sleep(60.0)
            for number, pause in enumerate(PAUSES):
                id = f"r{number}"  # noqa: A001
                dossier = await ends.over(id)
                is_done = dossier.state is State.SUCCESS
                assert isinstance(await ends.desk.outcome(id), Success) == is_done, pause
                assert ((Tray.FAILED, id) in base.files) == (not is_done), pause
                assert is_done or "not JSON" in dossier.message, pause
                assert is_done or pause > 1.0
