"""A script may take its response away as soon as it has read it, and its request as well. Its request has succeeded all
the same: the journal says so, the command ran once, and neither file comes back.

Both real ends are there, over a folder on paper, and the clock is virtual.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc import vouching
from actors.ipc.client_steps import State
from actors.ipc.dossier import Dossier, opened
from actors.ipc.errand import GONE_SECONDS
from actors.ipc.given import Asked, BothFiles, EntryStuck, Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.messages import Vouched
from actors.ipc.steps import Answer, Identity, Torn
from actors.ipc.vouching import Vouching
from codec.ipc import Dialect, Request, Success, read_request
from tests.ipc.both_kit import BothEnds, both_ends
from tests.ipc.client_kit import Desk, play, request
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import asked, state_directory

SETTLED_SECONDS = 2_000.0
"""Longer than three attempts."""
RUN_SECONDS = (0.0, 0.3, 5.0)
TURNS = range(0, 60, 3)
BOTH = (Tray.RESPONSES, Tray.REQUESTS)
TAKEN = {"response": BOTH[:1], "both": BOTH, "both, request first": BOTH[::-1], "request": BOTH[1:]}


def counting() -> tuple[Counter[str], KnownCommand]:
    runs: Counter[str] = Counter()

    async def work(params: Any, context: CommandContext) -> str:
        runs[context.request.id] += 1
        await trio.sleep(params["seconds"])
        return "done"

    return runs, KnownCommand("work", work)


async def read_and_take(ends: BothEnds, id: str, places: Iterable[Tray], turns: int) -> None:  # noqa: A002
    while (Tray.RESPONSES, id) not in ends.base.files:
        await ends.base.change()
    for _ in range(turns):
        await trio.lowlevel.checkpoint()
    for place in places:
        ends.base.foreign_drop(place, id)


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("seconds", RUN_SECONDS)
@pytest.mark.parametrize("sync_seconds", [0.0, 0.1])
async def test_whatever_a_script_takes_away_after_its_success_it_was_one(
    autojump_clock: MockClock, dialect: Dialect, taken: str, seconds: float, sync_seconds: float
) -> None:
    base, (runs, work), places = PaperBase(), counting(), TAKEN[taken]
    base.sync_seconds = sync_seconds
    with state_directory() as directory:
        async with both_ends(base, directory, [work], dialect=dialect) as ends:
            await trio.sleep(10.0)
            for turns in TURNS:
                ends.desk.put(f"r{turns}", "work", {"seconds": seconds})
                await read_and_take(ends, f"r{turns}", places, turns)
                await trio.sleep(1.0)
            await trio.sleep(SETTLED_SECONDS)
            for turns in TURNS:
                id = f"r{turns}"  # noqa: A001 - as in the contract
                dossier = await ends.over(id)
                assert (dossier.state, dossier.begun, runs[id]) == (State.SUCCESS, 1, 1), turns
                assert dossier.tried[-1].outcome == Success("done"), turns
                assert (Tray.FAILED, id) not in base.files, turns
                assert not [place for place in places if (place, id) in base.files], turns
            assert ends.house.stage.statistics().crashes == 0


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
async def test_so_was_each_of_a_burst(autojump_clock: MockClock, dialect: Dialect) -> None:
    base, (runs, work) = PaperBase(), counting()
    ids = [f"r{number}" for number in range(1_000)]
    with state_directory() as directory:
        async with both_ends(base, directory, [work], dialect=dialect) as ends, trio.open_nursery() as nursery:
            await trio.sleep(10.0)
            for id in ids:  # noqa: A001
                nursery.start_soon(read_and_take, ends, id, BOTH, 0)
                ends.desk.put(id, "work", {"seconds": 0.0})
            await trio.sleep(SETTLED_SECONDS)
            for id in ids:  # noqa: A001
                dossier = await ends.over(id)
                assert (dossier.state, dossier.begun, runs[id]) == (State.SUCCESS, 1, 1), id
            assert {place for place, _ in base.files} <= {Tray.EVALUATIONS}


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
async def test_the_same_request_once_more_is_run_once_more(autojump_clock: MockClock, dialect: Dialect) -> None:
    """What was told of it before says nothing of this one."""
    base, (runs, work) = PaperBase(), counting()
    with state_directory() as directory:
        async with both_ends(base, directory, [work], dialect=dialect) as ends:
            await trio.sleep(10.0)
            for number in range(3):
                ends.desk.put("r", "work", {"seconds": 0.3})
                await read_and_take(ends, "r", BOTH, 0)
                await trio.sleep(1.0)
                assert runs["r"] == number + 1
                assert (await ends.over("r")).state is State.SUCCESS


async def test_a_request_that_is_taken_away_unanswered_is_asked_for_anew(autojump_clock: MockClock) -> None:
    base, (runs, work) = PaperBase(), counting()
    with state_directory() as directory:
        async with both_ends(base, directory, [work]) as ends:
            await trio.sleep(10.0)
            ends.desk.put("r", "work", {"seconds": 5.0})
            await trio.sleep(2.0)
            base.foreign_drop(Tray.REQUESTS, "r")
            assert await ends.desk.success("r") == "done"
            await trio.sleep(1.0)
            assert (await ends.over("r")).state is State.SUCCESS
            assert runs["r"] == 2


class HastyScript(PaperBase):
    """It reads its answer, and takes both files away, just after the client end has looked for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[str] = []
        self.looked = trio.Event()
        self.hastes = True

    async def look(self, id: str) -> BothFiles:  # noqa: A002 - as in the contract
        found = await super().look(id)
        if self.hastes:
            self.foreign_drop(Tray.REQUESTS, id)
        self.looked.set()
        return found

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        self.published += requests
        return await super().publish(requests, first, by_turns=by_turns)


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.2, 1.0])
@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_what_has_stood_and_is_gone_is_not_run_again_before_the_server_end_could_say_so(
    dialect: Dialect, seconds: float
) -> None:
    """One that nobody answered in that time is."""
    base = HastyScript()

    async def test(it: Desk) -> None:
        base.foreign_put(Tray.REQUESTS, "a", asked("a", "ping"))
        await base.looked.wait()
        await trio.sleep(seconds)
        it.client.tell(told("a"))
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.begun) == (State.SUCCESS, 1)
        assert base.published == ([] if seconds < GONE_SECONDS else ["a"])

    play(test, base=base, dialect=dialect)


@pytest.mark.parametrize("dialect", [Dialect.SPEC, Dialect.HEAD])
def test_so_it_is_if_it_was_seen_after_a_crash_alone(dialect: Dialect) -> None:
    base = HastyScript()
    base.hastes = False

    async def test(it: Desk) -> None:
        await it.submit(request("a"))
        await trio.sleep(5.0)
        it.client.kill()
        await trio.sleep(5.0)
        base.foreign_drop(Tray.REQUESTS, "a")
        await trio.sleep(0.1)
        it.client.tell(told("a"))
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.begun, base.published) == (State.SUCCESS, 1, ["a"])

    play(test, base=base, dialect=dialect)


# -- what is kept


def told(id: str, command: str = "ping", size: int = 1, written: Identity = Identity(1, 1)) -> Vouched:  # noqa: A002, B008
    data = asked(id, command)
    return Vouched(Asked(read_request(data, id), data), Answer(written, Success(id)), 0.0, size)


def dossier(id: str, command: str = "ping") -> Dossier:  # noqa: A002
    data = asked(id, command)
    return opened(read_request(data, id), data, 0.0, "dropped")


def is_told(known: Vouching, id: str, command: str = "ping") -> bool:  # noqa: A002
    request = Asked(Request(id=id, command=command), b"")
    return known.completed(id, BothFiles(request, None)).response is not None


def test_a_bounded_number_is_kept_and_those_that_are_over_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vouching, "MOST", 3)
    monkeypatch.setattr(vouching, "MOST_OVER", 2)
    known = Vouching()
    for number in range(5):
        assert known.keep(told(f"r{number}"), is_open=False)
    assert [number for number in range(5) if is_told(known, f"r{number}")] == [2, 3, 4]
    for number in range(2, 5):
        known.over(dossier(f"r{number}"))
    assert not any(is_told(known, f"r{number}") for number in range(5))
    assert [number for number in range(2, 5) if known.keep(told(f"r{number}"), is_open=False)] == [2]
    assert known.keep(told("r4"), is_open=True)  # requeued
    assert known.keep(told("r3", "another"), is_open=False)


def test_of_those_that_are_over_the_last_ones_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vouching, "MOST_OVER", 2)
    known = Vouching()
    for id in ("a", "b", "a", "c"):  # noqa: A001 - as in the contract
        known.over(dossier(id))
    assert [known.keep(told(id), is_open=False) for id in "abc"] == [False, True, False]  # noqa: A001


def test_so_many_bytes_are_kept_and_of_each_id_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vouching, "MOST_BYTES", 100)
    known = Vouching()
    for _ in range(10):
        known.keep(told("a", size=60), is_open=False)
    assert is_told(known, "a")
    known.keep(told("b", size=41), is_open=False)
    assert (is_told(known, "a"), is_told(known, "b")) == (False, True)
    known.keep(told("c", size=101), is_open=False)
    assert not is_told(known, "c")


def test_nothing_is_told_of_another_request_nor_beside_what_stands_there() -> None:
    known = Vouching()
    known.keep(told("r"), is_open=False)
    assert not is_told(known, "r", "another")
    there = BothFiles(None, Torn())
    assert known.completed("r", there) is there
    nothing = BothFiles(None, None)
    assert known.completed("r", nothing, dossier("r", "another")) is nothing
    assert known.completed("r", nothing, dossier("r")).response is not None
    torn = BothFiles(Torn(), None)
    assert known.completed("r", torn) is torn


def test_of_one_id_the_last_ones_are_told_in_turn_and_each_answer_is_known_by_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vouching, "MOST_OF_ONE", 3)
    known = Vouching()
    for number in range(5):
        known.keep(told("r", f"c{number}", written=Identity(1, number)), is_open=False)
    for number in range(2, 5):
        theirs = BothFiles(None, Answer(Identity(1, number), Success("r")))
        assert known.completed("r", theirs, dossier("r", f"c{number}")) is theirs
        hidden = known.completed("r", theirs, dossier("r", "unknown"))
        assert hidden.response is None
        last = known.earlier("r", None if number < 4 else Torn())
        assert last is not None
        assert last.asked.request.command == f"c{number}"
        known.over(dossier("r", f"c{number}"))
    assert known.earlier("r", Torn()) is None
