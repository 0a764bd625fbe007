"""What is written for a round trip: as few rows as can tell after a kill what was done, and no look at what we know."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.server_journal import FirstStart, ServerJournal
from actors.ipc.server_steps import Row
from actors.ipc.steps import Identity
from actors.kernel import KernelError
from actors.store import StoreError
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import FOLDER, asked, serving, state_directory


@dataclass
class SlowBase(PaperBase):
    """Takes so long for an answer."""

    seconds: float = 0.0
    looks: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        super().__init__()

    async def answer(self, id: str, data: bytes) -> Identity:  # noqa: A002
        await trio.sleep(self.seconds)
        return await super().answer(id, data)


def handler(seconds: float, answer: object = "done") -> KnownCommand:
    async def work(params: Any, context: CommandContext) -> Any:
        await trio.sleep(seconds)
        return answer

    return KnownCommand("work", work)


@pytest.mark.parametrize(
    ("run", "writing", "answer", "rows"),
    [
        (0.0, 0.0, "done", ["asked", "answered"]),
        (0.05, 0.01, "done", ["asked", "answered"]),
        (0.0, 1.0, "done", ["asked", "decided", "answered"]),
        (1.0, 0.01, "done", ["asked", "decided", "answered"]),
        (0.0, 0.0, "x" * 100_000, ["asked", "decided", "answered"]),
    ],
    ids=["at once", "soon", "a slow disk", "a long run", "a large answer"],
)
async def test_how_a_run_has_ended_is_a_row_of_its_own_only_where_that_saves_much(
    run: float, writing: float, answer: str, rows: list[str], autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[str] = []
    save, begin = ServerJournal.save, ServerJournal.begin

    def begun(journal: ServerJournal, row: Row) -> FirstStart:
        saved.append(row.phase.value)
        return begin(journal, row)

    async def spied(journal: ServerJournal, row: Row, known: Row | None) -> None:
        await save(journal, row, known)
        if row.starts:
            saved.append(row.phase.value)

    monkeypatch.setattr(ServerJournal, "save", spied)
    monkeypatch.setattr(ServerJournal, "begin", begun)
    base = SlowBase(writing)
    with state_directory() as directory:
        async with serving(base, directory, [handler(run, answer)]) as (desk, _):
            await trio.sleep(10)
            desk.put("r", "work")
            assert await desk.success() == answer
            await trio.sleep(10)
    assert saved == rows


async def test_a_request_is_looked_at_once_and_our_own_answer_is_no_news_of_it(
    autojump_clock: MockClock,
) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with serving(base, directory) as (desk, house):
            await trio.sleep(10)
            base.calls.clear()
            desk.put("r")
            await desk.success()
            await trio.sleep(10)
            desk.take_away()  # a success that is taken away asks for nothing, either
            await trio.sleep(10)
            assert base.calls == ["look r", "answer r"]
            assert house["server/commands"].children() == []
            desk.put("r", params={"other": True})  # but another request does
            await desk.success()


async def test_of_an_error_all_news_is_heard_from_the_moment_it_is_written(autojump_clock: MockClock) -> None:
    base = PaperBase()
    with state_directory() as directory:
        async with serving(base, directory, [handler(0.0)]) as (desk, _):
            desk.put("r", "none")
            for _ in range(3):
                await desk.failure()
                desk.take_away()
            await desk.failure()
            base.foreign_put(Tray.REQUESTS, "r", base.files[Tray.REQUESTS, "r"][1].replace(b"none", b"work"))
            await trio.sleep(10)
            assert await desk.success() == "done"


@pytest.mark.parametrize("fault", ["at once", "later", "none"])
async def test_a_start_is_in_the_journal_before_it_happens_whatever_the_journal_does(
    fault: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, saved = ServerJournal.begin, FirstStart.saved
    faults = [fault]
    runs: list[str] = []

    def refused(journal: ServerJournal, row: Row) -> FirstStart:
        if "at once" in faults:
            faults.clear()
            raise KernelError("the store is not there")
        return begin(journal, row)

    async def lost(start: FirstStart) -> Row:
        if "later" in faults:
            faults.clear()
            raise StoreError("the disk is full")
        return await saved(start)

    async def work(params: Any, context: CommandContext) -> Any:
        assert isinstance(context.memory, ServerJournal)
        row = await context.memory.load("r")
        assert row is not None
        assert row.starts == context.start
        runs.append("r")
        return "done"

    monkeypatch.setattr(ServerJournal, "begin", refused)
    monkeypatch.setattr(FirstStart, "saved", lost)
    with state_directory() as directory:
        async with serving(PaperBase(), directory, [KnownCommand("work", work)]) as (desk, _):
            await trio.sleep(10)
            desk.put("r", "work")
            assert await desk.success() == "done"
    assert runs == ["r"]


@pytest.mark.parametrize("what", ["gone", "another"])
async def test_what_is_taken_away_or_changed_while_its_start_is_journalled_is_seen(
    what: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = FirstStart.saved
    base = PaperBase()

    async def meanwhile(start: FirstStart) -> Row:
        monkeypatch.setattr(FirstStart, "saved", saved)
        if what == "gone":
            base.foreign_drop(Tray.REQUESTS, "r")
        else:
            base.foreign_put(Tray.REQUESTS, "r", asked("r", "getCurrentState"))
        return await saved(start)

    monkeypatch.setattr(FirstStart, "saved", meanwhile)
    with state_directory() as directory:
        async with serving(base, directory) as (desk, house):
            await trio.sleep(10)
            desk.put("r")
            await trio.sleep(10)
            row = await ServerJournal(house.stage.registry, FOLDER).load("r")
            if what == "gone":
                assert (row, desk.answered()) == (None, set())
            else:
                assert row is not None
                assert row.starts == 1
                assert "mode" in await desk.success()
