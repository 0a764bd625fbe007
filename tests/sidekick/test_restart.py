"""Boards survive a restart of the real server, however it ended: pages find them, and so do the scripts that drew."""

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import trio
import trio.lowlevel

from codec.sidekick.kept import Reading, read_header
from tests.house.running import Server, server
from tests.plenty import plenty
from tests.sidekick.guests import board, clears, guest
from tests.sidekick.test_clients import python_with
from tests.web.board_words import CLEAR, Message, spawn, update

pytestmark = pytest.mark.slow
DEADLINE = 30.0
KILL, TERM = signal.SIGKILL, signal.SIGTERM

DRAWN = [
    spawn("grid", "g", numColumns=3, numRows=3),
    update("grid", "g", "setColor", x=1, y=1, color="red"),
    spawn("canvas", "c", width=20, height=10),
    update("canvas", "c", "createBuffer", bufferId=1),
    update("canvas", "c", "drawCircle", cx=5, cy=5, radius=3, bufferId=1),
    update("canvas", "c", "drawBuffer", sourceBufferId=1, targetBufferId=0),
    spawn("console", "k", showInput=False, text="line\n"),
]


def kept(house: Server) -> dict[str, bytes]:
    """What the database says is kept, by room; read beside the server."""
    with sqlite3.connect(f"file:{house.state / 'troupe.db'}?mode=ro", uri=True) as connection:
        return dict(connection.execute("SELECT key, value FROM pair WHERE space = 'sidekick/board'"))


def wait_for(what: str, found: Callable[[], bool], seconds: float = DEADLINE) -> None:
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def is_kept(house: Server, room: str, words: str) -> bool:
    """Whether something that was drawn is in the book that is kept."""
    value = kept(house).get(room)
    if value is None:
        return False
    header, reading = read_header(value), Reading()
    with sqlite3.connect(f"file:{house.state / 'troupe.db'}?mode=ro", uri=True) as connection:
        found = connection.execute(
            "SELECT data FROM event WHERE id >> 32 = (SELECT id FROM stream WHERE name = ?) ORDER BY id", (header.log,)
        )
        book = header.book or b"".join(data for (data,) in found)
    return any(isinstance(record, bytes) and words.encode() in record for record in reading.feed(book))


def listed(house: Server) -> list[Message]:
    rooms: list[Message] = httpx.get(house.url_of("sidekick") + "/rooms.json").json()["rooms"]
    return rooms


def port_of(house: Server) -> list[str]:
    return ["--set", f"sidekick.port={httpx.URL(house.url_of('sidekick')).port}"]


# -- what a page finds


@pytest.mark.parametrize("by", [KILL, TERM])
async def test_a_page_and_its_script_find_the_board_when_the_server_is_there_again(
    tmp_path: Path, by: signal.Signals
) -> None:
    with server(tmp_path) as house:
        house.ready()
        async with guest(house, "r", "hero", "0.0.7") as hero:
            await hero.say(CLEAR, *DRAWN)
            before = await board(house, "r")
            if by is KILL:
                await trio.to_thread.run_sync(wait_for, "kept", lambda: "r" in kept(house))
            house.stop(by)
    with server(tmp_path) as house:
        house.ready()
        assert await board(house, "r") == before
        async with guest(house, "r", "hero", "0.0.7") as hero:  # the same peerId
            await hero.hear(len)
            await hero.say(CLEAR, update("grid", "g", "setColor", x=2, y=2, color="blue"))
            after = await board(house, "r")
            assert [one for one in after if one not in before] == [
                update("grid", "g", "setColor", x=2, y=2, color="blue")
            ]
        assert house.json("/health")["status"] == "ok"


async def test_our_own_page_is_told_from_when_the_picture_is(tmp_path: Path) -> None:
    follow = {"id": 0, "component": "board", "type": "follow"}
    with server(tmp_path) as house:
        house.ready()
        async with guest(house, "r", "hero", "0.0.7") as hero:
            await hero.say(CLEAR, *DRAWN)
            await board(house, "r")
            drawn = time.time() * 1000
        house.stop(TERM)
    with server(tmp_path) as house:
        house.ready()
        rooms = {one["name"]: one for one in listed(house)}
        assert rooms["r"]["scripts"] == rooms["r"]["pages"] == 0
        async with guest(house, "r", "sidekick") as page:
            await page.say(follow)
            heard = await page.hear(lambda heard: any(one["component"] == "board" for one in heard) and clears(heard))
            (state,) = [one["payload"] for one in heard if one["component"] == "board"]
            assert state["scripts"] == 0
            assert abs(state["drawnAt"] - drawn) < 60_000
            assert state["drawnAt"] == rooms["r"]["drawnAt"]


async def test_a_board_that_a_reader_has_cleared_does_not_come_back(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        async with guest(house, "r", "hero", "0.0.7") as hero:
            await hero.say(CLEAR, *DRAWN)
            await trio.to_thread.run_sync(wait_for, "kept", lambda: "r" in kept(house))
            async with guest(house, "r", "sidekick") as page:
                await page.say({"id": 0, "component": "board", "type": "clear"})
                await hero.hear(lambda heard: [one for one in heard if one["type"] == "error"])
            await trio.to_thread.run_sync(wait_for, "forgotten", lambda: "r" not in kept(house))
        house.stop(KILL)
    with server(tmp_path) as house:
        house.ready()
        assert await board(house, "r") == []


async def test_where_boards_are_not_to_be_kept_none_comes_back(tmp_path: Path) -> None:
    with server(tmp_path, "--set", "sidekick.keep_boards=0") as house:
        house.ready()
        async with guest(house, "r", "hero", "0.0.7") as hero:
            await hero.say(CLEAR, *DRAWN)
            await board(house, "r")
        house.stop(TERM)
    with server(tmp_path) as house:
        house.ready()
        assert await board(house, "r") == []


# -- killed while it writes


CELLS = [(x, y) for x in range(50) for y in range(40)]


async def redraw(house: Server, room: str, numbers: range) -> None:
    """All cells in order, with one number after the other."""
    async with guest(house, room, "hero", "0.0.7") as hero:
        await hero.hear(len)
        await hero.say(spawn("grid", "g", numColumns=50, numRows=40))  # refused, where it is there
        for number in numbers:
            await hero.say(*[update("grid", "g", "setText", x=x, y=y, text=f"{number} {x * y}") for x, y in CELLS])


async def of_one_moment(house: Server, room: str) -> int:
    """The number of all cells but the first few, which may be redrawn already."""
    shown = [one["payload"]["options"] for one in await board(house, room) if one["type"] == "update"]
    texts = {(cell["x"], cell["y"]): int(cell["text"].split()[0]) for cell in shown}
    if not texts:
        return -1
    found = [texts[cell] for cell in CELLS]
    assert all(before >= after for before, after in pairwise(found))
    assert found[0] - found[-1] <= 1
    return found[-1]


@pytest.mark.timeout(300)
async def test_whenever_it_is_killed_a_board_is_as_it_was_at_one_moment_and_none_is_older_than_what_was_kept(
    tmp_path: Path,
) -> None:
    rooms = ["a", "b"]
    chance = random.Random(7)
    known = -1
    for turn in range(plenty(2)):
        with server(tmp_path) as house:
            house.ready()
            for room in rooms:
                assert await of_one_moment(house, room) >= known
            first = 10 * turn
            async with trio.open_nursery() as nursery:
                for room in rooms:
                    nursery.start_soon(redraw, house, room, range(first, first + 2))
            known = first + 1
            for room in rooms:
                await trio.to_thread.run_sync(wait_for, "kept", partial(is_kept, house, room, f'"{known} {49 * 39}"'))
            async with trio.open_nursery() as nursery:
                for room in rooms:
                    nursery.start_soon(redraw, house, room, range(first + 2, first + 6))
                await trio.sleep(2.5 + chance.random() * 1.5)  # about when it is being written
                house.stop(KILL)
                nursery.cancel_scope.cancel()


# -- the released clients


CLIENT = """
import sys, threading, time, sidekick
sidekick.set_url({url!r})
grid = sidekick.Grid(4, 3)
grid.set_color(1, 1, "red")
print("drawn", flush=True)
for line in sys.stdin:
    column, row, color = line.split()
    try:
        grid.set_color(int(column), int(row), color)
        print("told", flush=True)
    except Exception as error:
        print("failed", type(error).__name__, error, flush=True)
"""


@contextmanager
def client(python: str, house: Server) -> Iterator["subprocess.Popen[str]"]:
    url = house.url_of("sidekick").replace("http", "ws")
    hero = subprocess.Popen(
        [python, "-u", "-c", CLIENT.format(url=url)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield hero
    finally:
        hero.kill()
        hero.communicate()


def answer(hero: "subprocess.Popen[str]", line: str = "") -> str:
    assert hero.stdin is not None
    assert hero.stdout is not None
    if line:
        hero.stdin.write(line + "\n")
        hero.stdin.flush()
    return hero.stdout.readline().strip()


def colors(house: Server) -> dict[tuple[int, int], str]:
    shown = trio.run(board, house, "default")
    cells = [one["payload"]["options"] for one in shown if one["type"] == "update"]
    return {(cell["x"], cell["y"]): cell["color"] for cell in cells}


@pytest.mark.drawn(2)
@pytest.mark.parametrize("version", ["0.0.2", "0.0.5", "0.0.7"])
@pytest.mark.parametrize("by", [KILL, TERM])
def test_a_released_client_finds_its_board_after_a_restart_and_goes_on(
    tmp_path: Path, larder: Path, version: str, by: signal.Signals
) -> None:
    python = python_with(larder, version)
    with server(tmp_path) as house:
        house.ready()
        port = port_of(house)
        with client(python, house) as hero:
            assert answer(hero) == "drawn"
            wait_for("drawn", lambda: colors(house) == {(1, 1): "red"})
            if by is KILL:
                wait_for("kept", lambda: "default" in kept(house))
            house.stop(by)
            with server(tmp_path, *port) as again:
                again.ready()
                assert colors(again) == {(1, 1): "red"}
                said = []
                until = time.monotonic() + DEADLINE
                while colors(again).get((2, 2)) != "blue":  # what it says first, a client loses with its connection
                    said.append(answer(hero, "2 2 blue"))
                    assert time.monotonic() < until, said
                assert colors(again) == {(1, 1): "red", (2, 2): "blue"}, said
