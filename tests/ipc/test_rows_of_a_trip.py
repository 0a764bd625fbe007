"""What is written for a round trip: as few rows as can tell after a kill what was done, and no look at what we know."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.given import Tray
from actors.ipc.handlers import CommandContext, KnownCommand
from actors.ipc.server_journal import ServerJournal
from actors.ipc.server_steps import Row
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import serving, state_directory


@dataclass
class SlowBase(PaperBase):
    """Takes so long for an answer."""

    seconds: float = 0.0
    looks: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        super().__init__()

    async def answer(self, id: str, data: bytes) -> None:  # noqa: A002
        await trio.sleep(self.seconds)
        await super().answer(id, data)


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
    save = ServerJournal.save

    async def spied(journal: ServerJournal, row: Row, known: Row | None) -> None:
        await save(journal, row, known)
        if row.starts:
            saved.append(row.phase.value)

    monkeypatch.setattr(ServerJournal, "save", spied)
    base = SlowBase(writing)
    with state_directory() as directory:
        async with serving(base, directory, [handler(run, answer)]) as (desk, _):
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
