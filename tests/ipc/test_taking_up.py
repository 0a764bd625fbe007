"""In the dialect of HEAD our server end removes a request that it has answered. The client end beside it knows that
request by then, so none ends unseen: each stands in the journal, and a failure has its copy in failed/.

Both real ends are there, over a folder on paper, and the clock is virtual.
"""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.adopting import GATHER_SECONDS
from actors.ipc.client_steps import MOST_ATTEMPTS, State
from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.messages import CLIENT_END
from actors.kernel.testing import run_in_virtual_time
from codec.ipc import Dialect, Success
from tests.ipc.both_kit import BothEnds, both_ends
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import ServerDesk, state_directory

SETTLED_SECONDS = 60.0
PAUSES = (None, 0.0, 0.2 * GATHER_SECONDS, GATHER_SECONDS, 1.0)
"""Between two drops. None: no turn of the loop."""


async def fail(params: Any, context: CommandContext) -> None:
    raise RuntimeError("busy")


async def slow(params: Any, context: CommandContext) -> str:
    await trio.sleep(params["seconds"])
    return "slow"


KNOWN = (KnownCommand("fail", fail), KnownCommand("slow", slow))


async def drop(desk: ServerDesk, ids: list[str], command: str, pause: float | None) -> None:
    for id in ids:  # noqa: A001 - as in the contract
        desk.put(id, command)
        if pause is not None:
            await trio.sleep(pause)


async def check(ends: BothEnds, ids: list[str], command: str) -> None:
    states = {"ping": State.SUCCESS, "fail": State.GAVE_UP, "bad": State.GAVE_UP}
    attempts = {"ping": 1, "fail": MOST_ATTEMPTS, "bad": 1}
    for id in ids:  # noqa: A001 - as in the contract
        dossier = await ends.over(id)
        assert (dossier.command, dossier.state, dossier.begun) == (command, states[command], attempts[command]), id
        assert ((Tray.FAILED, id) in ends.base.files) == (command != "ping")
        assert (Tray.RESPONSES, id) in ends.base.files
        assert (Tray.REQUESTS, id) not in ends.base.files


@pytest.mark.parametrize("command", ["ping", "fail", "bad"])
@pytest.mark.parametrize("pause", PAUSES)
async def test_each_request_that_a_script_drops_is_known_when_it_has_gone(
    autojump_clock: MockClock, command: str, pause: float | None
) -> None:
    base, ids = PaperBase(), [f"r{number}" for number in range(40)]
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            await drop(ends.desk, ids, command, pause)
            await trio.sleep(SETTLED_SECONDS)
            await check(ends, ids, command)
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("command", ["ping", "fail", "bad"])
async def test_so_is_each_that_was_dropped_before_the_start(autojump_clock: MockClock, command: str) -> None:
    base, ids = PaperBase(), [f"r{number}" for number in range(40)]
    await drop(ServerDesk(base), ids, command, None)
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(SETTLED_SECONDS)
            await check(ends, ids, command)


@pytest.mark.parametrize("command", ["ping", "fail", "bad"])
@pytest.mark.parametrize("turns", range(0, 400, 7))
async def test_a_client_end_that_is_killed_meanwhile_knows_it_all_the_same(
    autojump_clock: MockClock, command: str, turns: int
) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            ends.desk.put("a", command)
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            ends.house.stage.registry.get(CLIENT_END).kill()
            await trio.sleep(SETTLED_SECONDS)
            dossier = await ends.over("a")
            assert dossier.command == command
            assert dossier.state is (State.SUCCESS if command == "ping" else State.GAVE_UP)
            assert (Tray.REQUESTS, "a") not in base.files


@pytest.mark.parametrize("turns", range(0, 600, 11))
@pytest.mark.parametrize("command", ["ping", "fail"])
def test_so_does_a_house_that_is_ended_meanwhile_and_started_anew(command: str, turns: int) -> None:
    async def main() -> None:
        base = PaperBase()
        with state_directory() as directory:
            async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
                await trio.sleep(10.0)
                ends.desk.put("a", command)
                for _ in range(turns):
                    await trio.lowlevel.checkpoint()
            base.known = True
            async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
                await trio.sleep(SETTLED_SECONDS)
                dossier = await ends.over("a")
                assert (dossier.command, dossier.state) == (
                    command,
                    State.SUCCESS if command == "ping" else State.GAVE_UP,
                )
                assert dossier.begun <= MOST_ATTEMPTS
                assert (Tray.REQUESTS, "a") not in base.files

    run_in_virtual_time(main)


async def test_a_client_end_that_keeps_down_because_another_one_has_the_folder_holds_no_request_up(
    autojump_clock: MockClock,
) -> None:
    base = PaperBase()
    base.other_client = "another client end has this folder"
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            ends.desk.put("a")
            assert await ends.desk.success("a") == {"message": "pong"}
            await trio.sleep(1.0)
            assert (Tray.REQUESTS, "a") not in base.files


async def test_another_request_of_the_same_id_is_run_whenever_it_comes_after_the_first_one_was_removed(
    autojump_clock: MockClock,
) -> None:
    base, ids = PaperBase(), [f"r{number}" for number in range(60)]
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            for turns, id in enumerate(ids):  # noqa: A001 - as in the contract
                ends.desk.put(id)
                while (Tray.REQUESTS, id) in base.files:
                    await base.change()
                await trio.sleep((turns + 1) / 2000.0)
                ends.desk.put(id, "slow", {"seconds": 0.5})
            await trio.sleep(300.0)
            for id in ids:  # noqa: A001
                dossier = await ends.over(id)
                assert (dossier.command, dossier.tried[-1].outcome) == ("slow", Success("slow")), id
                assert (Tray.REQUESTS, id) not in base.files


@pytest.mark.parametrize("turns", range(0, 300, 5))
@pytest.mark.parametrize("places", [1, 2])
async def test_neither_end_holds_a_place_that_the_other_one_waits_for(
    autojump_clock: MockClock, places: int, turns: int
) -> None:
    """The older requests wait for an errand, while our server end has answers to the next ones of their ids."""
    base, ids = PaperBase(), [f"r{number}" for number in range(8)]
    with state_directory() as directory:
        terms = {"in_flight": places, "concurrency": places}
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD, **terms) as ends:
            await trio.sleep(10.0)
            ends.desk.put("long", "slow", {"seconds": 1.0})
            for id in ids:  # noqa: A001 - as in the contract
                ends.desk.put(id)
            for _ in range(turns):
                await trio.lowlevel.checkpoint()
            for id in ids:  # noqa: A001
                while (Tray.REQUESTS, id) in base.files:
                    await base.change()
                ends.desk.put(id, "slow", {"seconds": 0.5})
            await trio.sleep(SETTLED_SECONDS)
            for id in ids:  # noqa: A001
                dossier = await ends.over(id)
                assert (dossier.command, dossier.begun, dossier.tried[-1].outcome) == ("slow", 1, Success("slow")), id
                assert (Tray.REQUESTS, id) not in base.files


async def test_a_request_of_which_the_rest_comes_too_late_is_said_to_be_torn(autojump_clock: MockClock) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with both_ends(base, directory, KNOWN, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            base.foreign_put(Tray.REQUESTS, "a", b'{"request_id": "a",')
            await trio.sleep(SETTLED_SECONDS)
            dossier = await ends.over("a")
            assert dossier.state is State.GAVE_UP
            assert "not JSON" in dossier.message
            assert (Tray.FAILED, "a") in base.files
            assert (Tray.REQUESTS, "a") not in base.files


async def test_a_script_that_takes_its_answer_away_as_soon_as_it_can_read_it_is_answered_once(
    autojump_clock: MockClock,
) -> None:
    """At any moment after the answer. The scripts of the original do so with every answer."""
    runs: dict[str, int] = {}

    async def count(params: Any, context: CommandContext) -> None:
        runs[context.request.id] = runs.get(context.request.id, 0) + 1

    base, ids = PaperBase(), [f"r{number}" for number in range(100)]
    with state_directory() as directory:
        known = [KnownCommand("count", count)]
        async with both_ends(base, directory, known, dialect=Dialect.HEAD) as ends:
            await trio.sleep(10.0)
            for turns, id in enumerate(ids):  # noqa: A001 - as in the contract
                ends.desk.put(id, "count")
                while (Tray.REQUESTS, id) in base.files:
                    await base.change()
                for _ in range(turns % 50):
                    await trio.lowlevel.checkpoint()
                ends.desk.take_away(id)
            await trio.sleep(2_000.0)
            assert runs == dict.fromkeys(ids, 1)
            for id in ids:  # noqa: A001
                assert (await ends.over(id)).state is State.SUCCESS
