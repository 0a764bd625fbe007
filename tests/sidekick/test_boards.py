"""What is kept of boards, on a stage of its own under the mock clock, with a real store that can be made to fail."""

import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing

from actors.kernel import ActorRef, ChildSpec, KernelError, Top, run, supervisor_spec
from actors.sidekick import boards, bookkeeping
from actors.sidekick.boards import AGAIN_AFTER, KEEP_AFTER, boards_spec
from actors.sidekick.desk import SidekickDesk, crowd_specs
from actors.sidekick.room import FORSAKEN_AFTER
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient, StoreError
from codec.sidekick.kept import BoardHeader, encode_header
from tests.sidekick.test_room import CLEAR, Client, House, Json, paint, spawn_grid

pytestmark = pytest.mark.slow
DAY = 86_400.0


class Disk:
    """How it is."""

    def __init__(self) -> None:
        self.fails = False
        self.seconds = 0.0
        self.writes = 0

    def executor(self, open: Callable[[], Any], name: str, turn: Any) -> Inline:  # noqa: A002
        return Inline(lambda: Engine(open(), self), name, turn, seconds=self.seconds)


class Engine:
    def __init__(self, engine: Any, disk: Disk) -> None:
        self._engine = engine
        self._disk = disk
        self.rest = engine.rest
        self.close = engine.close

    def execute(self, jobs: Sequence[Any]) -> list[object]:
        if self._disk.fails:
            return [StoreError("the disk failed: this was not kept")] * len(jobs)
        self._disk.writes += len(jobs)
        answers: list[object] = self._engine.execute(jobs)
        return answers


class KeptHouse(House):
    disk: Disk
    store: StoreClient

    async def listed(self) -> dict[str, Json]:
        return {one["name"]: one for one in msgspec.json.decode(await self.desk.rooms())["rooms"]}

    async def seen(self, room: str = "") -> list[Json]:
        """What a page that comes now is shown."""
        async with self.client(room) as page:
            await page.announce("sidekick", peer="looks")
            return [one for one in page.line.take() if one["type"] in ("spawn", "update")]

    @property
    def sidekick(self) -> ActorRef[Any]:
        found = self.top.child("sidekick")
        assert found is not None
        return found

    def room(self, name: str = "default") -> ActorRef[Any]:
        return House(self.sidekick, self.desk).room(name)

    def trouble(self) -> str | None:
        return self.sidekick.statistics().trouble


@asynccontextmanager
async def house(
    folder: Path, disk: Disk | None = None, days: float = 7.0, wall: float = 1e9
) -> AsyncIterator[KeptHouse]:
    disk = disk or Disk()

    def clock() -> float:
        return wall + trio.current_time()

    with StateDirectory.claim(folder) as directory:
        store = ChildSpec("store", partial(Store, directory, disk.executor))
        sidekick = supervisor_spec("sidekick", [boards_spec(days * DAY, clock), *crowd_specs()])
        async with trio.open_nursery() as nursery:
            top = await nursery.start(run, ChildSpec("top", lambda: Top([store, sidekick])))
            stage = top._slot.stage
            here = KeptHouse(top, SidekickDesk(stage.registry, stage.new_id, "1.2.3", clock))
            here.disk = disk
            here.store = StoreClient(stage.registry.get(STORE))
            yield here
            await top.stop()


async def later(seconds: float = KEEP_AFTER) -> None:
    await trio.sleep(seconds + 0.1)
    await trio.testing.wait_all_tasks_blocked()


def killed(folder: Path, copy: Path) -> Path:
    """The state as a server would find it that was killed now."""
    copy.mkdir()
    with sqlite3.connect(folder / "troupe.db") as connection:
        connection.execute("VACUUM INTO ?", (str(copy / "troupe.db"),))
    return copy


@asynccontextmanager
async def hero(house: House, room: str = "", peer: str = "hero") -> AsyncIterator[Client]:
    async with house.client(room) as client:
        await client.announce("hero", peer=peer)
        client.line.take()
        yield client


async def test_a_board_is_there_after_a_kill_three_seconds_after_it_was_drawn(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe, "r") as script:
        await script.say(spawn_grid(), paint(0, 0))
        await later()
        await script.say(paint(1, 1))
        copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        assert await troupe.seen("r") == [spawn_grid(), paint(0, 0)]
    async with house(tmp_path / "a") as troupe:  # which was stopped in order
        assert await troupe.seen("r") == [spawn_grid(), paint(0, 0), paint(1, 1)]
        assert await troupe.seen("other") == []


async def test_while_something_changes_all_the_time_what_is_kept_is_never_older_than_five_seconds(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
        for tick in range(40):
            await script.say(paint(0, 0, f"#{tick:03}"))
            await trio.sleep(0.5)
            if tick > 10 and tick % 3 == 0:
                copy = killed(tmp_path / "a", tmp_path / f"killed-{tick}")
                async with house(copy) as found:
                    color = (await found.seen())[1]["payload"]["options"]["color"]
                assert tick - int(color[1:]) <= 10
    assert troupe.disk.writes < 40 * 2


@pytest.mark.parametrize("after", [0.0, 3 * DAY])
async def test_a_hero_that_comes_back_after_a_restart_finds_its_board_however_long_that_took(
    autojump_clock: object, tmp_path: Path, after: float
) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(CLEAR, spawn_grid())
    async with house(tmp_path, wall=1e9 + after) as troupe, hero(troupe) as script:
        await script.say(CLEAR, paint(2, 2))
        assert await troupe.seen() == [spawn_grid(), paint(2, 2)]
        await script.say(CLEAR)  # this one it means
        assert await troupe.seen() == []


async def test_a_board_is_kept_however_long_the_names_of_its_heroes_are_and_the_last_ones_may_come_back(
    autojump_clock: object, tmp_path: Path
) -> None:
    names = ["\N{GRINNING FACE}" * 990 + str(number) for number in range(400)]
    async with house(tmp_path / "a") as troupe:
        for name in names:
            async with hero(troupe, peer=name) as script:
                await script.say(spawn_grid(name[-3:]))
        await later()
        assert troupe.trouble() is None
        copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        for name in names[-100:]:
            async with hero(troupe, peer=name) as script:
                await script.say(CLEAR)
        assert len(await troupe.seen()) == len(names)


async def test_a_new_script_clears_what_an_earlier_one_left_before_the_restart(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(CLEAR, spawn_grid())
        await script.announce("hero", "offline")
    async with house(tmp_path) as troupe, hero(troupe, peer="another") as script:
        await script.say(CLEAR, spawn_grid("mine"))
        assert await troupe.seen() == [spawn_grid("mine")]


async def test_who_owns_what_is_known_after_a_restart(autojump_clock: object, tmp_path: Path) -> None:
    click = {"id": 0, "component": "grid", "type": "event", "src": "g", "payload": {"event": "click", "x": 1, "y": 1}}
    async with house(tmp_path) as troupe, hero(troupe, peer="ann") as ann, hero(troupe, peer="bob") as bob:
        await ann.say(spawn_grid("g"))
        await bob.say(spawn_grid("g"), spawn_grid("h"))
    async with house(tmp_path) as troupe, hero(troupe, peer="ann") as ann, hero(troupe, peer="bob") as bob:
        await bob.say(paint(0, 0, target="g"))
        assert "belongs to another script" in bob.line.take()[-1]["payload"]["message"]
        ann.line.take()
        async with troupe.client() as page:
            await page.announce("sidekick", peer="page")
            await page.say(click)
        assert click in ann.line.take()
        assert click not in bob.line.take()
        await ann.say(CLEAR)
        await ann.say(CLEAR)
        assert await troupe.seen() == [spawn_grid("h")]


@pytest.mark.parametrize("later", [0.5, 1.0, 1.5, 3.0])
async def test_the_boards_end_as_soon_as_what_is_being_written_is(
    autojump_clock: object, tmp_path: Path, later: float
) -> None:
    disk = Disk()
    disk.seconds = 1.0
    async with house(tmp_path, disk) as troupe, hero(troupe, "r") as script:
        await script.say(spawn_grid())
        await trio.sleep(KEEP_AFTER + later)
        keeper = troupe.sidekick.child("boards")
        assert keeper is not None
        before = trio.current_time()
        await keeper.stop()
        assert trio.current_time() - before <= 3.5, "a picture, a commit, and what was there before is dropped"
    async with house(tmp_path) as troupe:
        assert await troupe.seen("r") == [spawn_grid()]


async def test_two_boards_that_change_together_are_both_kept(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path / "a") as troupe:
        for number in range(20):
            async with hero(troupe, f"r{number}") as script:
                await script.say(spawn_grid(f"g{number}"))
        await later()
        copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        for number in range(20):
            assert await troupe.seen(f"r{number}") == [spawn_grid(f"g{number}")]


async def test_a_long_board_is_kept_whole_and_the_one_before_leaves_nothing_behind(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookkeeping, "SHORT", 100)
    monkeypatch.setattr(bookkeeping, "BATCH", 1_000)
    texts = [{**spawn_grid(f"g{n}"), "hash": f"{hash(str(n)):x}" * 9} for n in range(200)]
    async with house(tmp_path) as troupe, hero(troupe, "long") as script:
        await script.say(*texts)
        await later()
        assert len(await troupe.store.streams("sidekick/board/")) == 1
        await script.say(spawn_grid("last"))
        await later()
        (one,) = await troupe.store.streams("sidekick/board/")
        assert one[1] >= 2
    async with house(tmp_path) as troupe:
        assert await troupe.seen("long") == [*texts, spawn_grid("last")]


@pytest.mark.parametrize("at", range(7))
async def test_killed_at_any_moment_of_writing_there_is_the_old_board_or_the_new_one(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    monkeypatch.setattr(bookkeeping, "SHORT", 100)
    monkeypatch.setattr(bookkeeping, "BATCH", 1_000)
    old = [{**spawn_grid(f"g{n}"), "hash": f"{hash(str(n)):x}" * 9} for n in range(60)]
    new = {**spawn_grid("new"), "hash": "x" * 5000}
    disk = Disk()
    async with house(tmp_path / "a", disk) as troupe, hero(troupe, "r") as script:
        await script.say(*old)
        await later()
        await script.say(new)
        copies: list[Path] = []
        write = Engine.execute

        def execute(self: Engine, jobs: Sequence[Any]) -> list[object]:
            answers = write(self, jobs)
            copies.append(killed(tmp_path / "a", tmp_path / f"killed-{len(copies)}"))
            return answers

        monkeypatch.setattr(Engine, "execute", execute)
        await later()
        monkeypatch.setattr(Engine, "execute", write)
    async with house(copies[min(at, len(copies) - 1)]) as troupe:
        assert await troupe.seen("r") in (old, [*old, new])
        names = await troupe.store.streams("sidekick/board/")
        assert len(names) == 1  # what was half written, or about to be dropped, has been swept away


async def test_an_empty_board_is_forgotten(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
        await later()
        assert len(await troupe.store.keys("sidekick/board")) == 1
        await script.say(CLEAR)
        await later()
        assert await troupe.store.keys("sidekick/board") == []


async def test_what_a_reader_clears_is_forgotten_at_once(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script, troupe.client() as page:
        await script.say(spawn_grid())
        await later()
        await page.announce("sidekick", peer="page")
        await page.say({"id": 0, "component": "board", "type": "clear"})
        await later(0)
        assert await troupe.store.keys("sidekick/board") == []


@pytest.mark.parametrize(("days", "found"), [(6.9, True), (7.1, False)])
async def test_a_board_is_forgotten_some_days_after_it_was_drawn_on_last(
    autojump_clock: object, tmp_path: Path, days: float, found: bool
) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
    async with house(tmp_path, wall=1e9 + days * DAY) as troupe:
        assert bool(await troupe.seen()) is found
        assert bool(await troupe.store.keys("sidekick/board")) is found


async def test_where_no_boards_are_kept_none_are_and_those_that_were_are_forgotten(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
    async with house(tmp_path, days=0) as troupe, hero(troupe, "other") as script:
        assert await troupe.seen() == []
        await script.say(spawn_grid())
        await later()
        assert (await troupe.listed())["other"]["drawnAt"] is not None
        assert await troupe.store.keys("sidekick/board") == []


async def test_of_too_many_boards_the_one_that_was_drawn_on_longest_ago_is_forgotten(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "MOST_BOARDS", 3)
    async with house(tmp_path) as troupe:
        for name in ("a", "b", "c", "a", "d"):
            async with hero(troupe, name) as script:
                await script.say(CLEAR, spawn_grid())
            await later()
        assert [key for key, _ in await troupe.store.keys("sidekick/board")] == ["a", "c", "d"]


async def test_of_a_board_that_is_too_large_what_was_kept_before_stays_and_is_told_once(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bookkeeping, "LONGEST", 2_000)
    async with house(tmp_path / "a") as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
        await later()
        for number in range(2):
            await script.say({**spawn_grid(f"large{number}"), "hash": "".join(str(hash(f"{n}")) for n in range(900))})
            await later()
        copy = killed(tmp_path / "a", tmp_path / "b")
        assert troupe.trouble() is None
        await script.say(spawn_grid("more"))
        room, before = troupe.room(), trio.current_time()
        await room.stop()
        assert trio.current_time() - before < 1, "it does not wait for what is not going to be kept"
    async with house(copy) as troupe:
        assert await troupe.seen() == [spawn_grid()]
        assert await troupe.store.streams("sidekick/board/") == []
    assert [record.message for record in caplog.records].count(
        "The board of room default is not kept: it has more than 2,000 bytes."
    ) == 1


async def test_a_board_that_has_fitted_again_is_told_of_again_when_it_is_too_large_once_more(
    autojump_clock: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bookkeeping, "LONGEST", 2_000)
    large = {**spawn_grid("large"), "hash": "".join(str(hash(f"{n}")) for n in range(900))}
    told = list[int]()
    async with house(tmp_path) as troupe, hero(troupe) as script:
        for messages in ([large], [CLEAR, spawn_grid()], [large], [spawn_grid("more")]):
            await script.say(*messages)
            await later()
            told.append(sum("is not kept: it has more than" in record.message for record in caplog.records))
    assert told == [1, 1, 2, 2]


# -- what cannot be read


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"nonsense", "is damaged"),
        (encode_header(BoardHeader(version=99, room="r", drawn_at=2e9)), "was kept in form 99"),
        (encode_header(BoardHeader(room="r", drawn_at=2e9, book=b"nonsense", size=8)), "is damaged"),
        (encode_header(BoardHeader(room="r", drawn_at=2e9, log="sidekick/board/r/gone", size=8)), "its end is missing"),
    ],
)
async def test_a_board_that_cannot_be_read_is_a_line_in_the_log_and_an_empty_board(
    autojump_clock: object, tmp_path: Path, value: bytes, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(tmp_path) as troupe:
        await troupe.store.put("sidekick/board", "r", value)
    async with house(tmp_path) as troupe:
        assert await troupe.seen("r") == []
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert words in caplog.text
        await later()
        assert await troupe.store.keys("sidekick/board") == []
        async with hero(troupe, "r") as script:
            await script.say(spawn_grid())
    async with house(tmp_path) as troupe:
        assert await troupe.seen("r") == [spawn_grid()]


# -- bad days


async def test_while_the_store_fails_drawing_goes_on_and_health_tells_and_then_all_is_kept(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe) as script:
        troupe.disk.fails = True
        await script.say(spawn_grid())
        await later()
        await script.say(paint(0, 0))
        assert await troupe.seen() == [spawn_grid(), paint(0, 0)]
        assert "boards are not kept" in (troupe.trouble() or "")
        troupe.disk.fails = False
        await later(2 * AGAIN_AFTER)
        assert troupe.trouble() is None
        copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        assert await troupe.seen() == [spawn_grid(), paint(0, 0)]


async def test_a_server_whose_store_fails_ends_in_time_and_says_what_is_lost(
    autojump_clock: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(tmp_path) as troupe:
        async with hero(troupe) as script:
            await script.say(spawn_grid())
        troupe.disk.fails = True
        before = trio.current_time()
    assert trio.current_time() - before < 9
    assert "What was drawn last in room default is not kept" in caplog.text


async def test_a_room_begins_without_its_board_where_the_store_does_not_answer(
    autojump_clock: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(tmp_path) as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
    disk = Disk()
    disk.fails = True
    async with house(tmp_path, disk) as troupe, hero(troupe, peer="new") as script:
        await script.say(spawn_grid("new"))
        assert await troupe.seen() == [spawn_grid("new")]
        assert "what was drawn before cannot be shown" in (troupe.trouble() or "")
    assert "Room default begins empty" in caplog.text


async def test_a_room_that_nobody_needs_any_more_finds_its_board_when_it_comes_back(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path) as troupe:
        async with hero(troupe, "r") as script:
            await script.say(spawn_grid())
        await trio.sleep(FORSAKEN_AFTER - 2 * KEEP_AFTER)
        assert await troupe.seen("r") == [spawn_grid()]
        await trio.sleep(FORSAKEN_AFTER + 1)
        rooms = troupe.top.child("sidekick").child("rooms")  # type: ignore[union-attr]
        assert rooms is not None
        assert rooms.child("r") is None
        assert (await troupe.listed())["r"]["scripts"] == 0
        assert await troupe.seen("r") == [spawn_grid()]


async def test_a_room_that_comes_back_while_its_last_picture_is_written_waits_for_that(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path) as troupe:
        rooms = troupe.top.child("sidekick").child("rooms")  # type: ignore[union-attr]
        assert rooms is not None
        for number in range(5):
            async with hero(troupe, "r", peer=f"hero-{number}") as script:
                await script.say(CLEAR, spawn_grid(f"g{number}"))
            room = rooms.child("r")
            assert room is not None
            room.begin_stop()
            for _ in range(number):
                await trio.lowlevel.checkpoint()
            with suppress(KernelError, RuntimeError):  # turned away: the room is just ending
                assert await troupe.seen("r") in ([], [spawn_grid(f"g{number}")])
            await room.wait_stopped()
            assert await troupe.seen("r") == [spawn_grid(f"g{number}")]


async def test_a_room_that_crashes_keeps_what_it_has_in_memory_and_so_it_is_kept(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe) as script:
        await script.say(spawn_grid())
        await later()
        await script.say(paint(0, 0))
        room = troupe.top.child("sidekick").child("rooms").child("default")  # type: ignore[union-attr]
        assert room is not None
        room.kill()
        await later()
        assert await troupe.seen() == [spawn_grid(), paint(0, 0)]
        await later()
        copy = killed(tmp_path / "a", tmp_path / "b")
    async with house(copy) as troupe:
        assert await troupe.seen() == [spawn_grid(), paint(0, 0)]


async def test_the_boards_may_crash_and_nothing_is_missing(autojump_clock: object, tmp_path: Path) -> None:
    async with house(tmp_path / "a") as troupe, hero(troupe, "r") as script:
        await script.say(spawn_grid())
        kept = troupe.top.child("sidekick").child("boards")  # type: ignore[union-attr]
        assert kept is not None
        kept.kill()
        await later()
        assert kept.statistics().restarts == 1
        copy = killed(tmp_path / "a", tmp_path / "b")
        assert (await troupe.listed())["r"]["scripts"] == 1
        await script.say(paint(0, 0))
        await later()
    async with house(copy) as troupe:
        assert await troupe.seen("r") == [spawn_grid()]
    async with house(tmp_path / "a") as troupe:
        assert await troupe.seen("r") == [spawn_grid(), paint(0, 0)]


# -- which rooms there are


async def test_rooms_are_listed_with_who_is_there_and_when_they_were_drawn_on_last(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with house(tmp_path) as troupe:
        assert list(await troupe.listed()) == ["default"]
        async with hero(troupe, "a") as script, troupe.client("b") as page:
            await page.announce("sidekick", peer="page")
            await script.say(spawn_grid())
            await trio.testing.wait_all_tasks_blocked()
            listed = await troupe.listed()
            assert list(listed) == ["default", "a", "b"]
            drawn_at = listed["a"].pop("drawnAt")
            assert 1e12 <= drawn_at <= 1e12 + 1000
            assert listed["a"] == {"name": "a", "path": "/session/a", "scripts": 1, "pages": 0}
            assert listed["b"] == {"name": "b", "path": "/session/b", "scripts": 0, "pages": 1, "drawnAt": None}
            assert listed["default"]["path"] == "/"
        await trio.testing.wait_all_tasks_blocked()
        listed = await troupe.listed()
        assert list(listed) == ["default", "a"]  # in b there is nothing to be seen
        assert listed["a"]["scripts"] == 0
    async with house(tmp_path) as troupe:
        listed = await troupe.listed()
        assert list(listed) == ["default", "a"]
        assert abs(listed["a"]["drawnAt"] - drawn_at) < 1000


