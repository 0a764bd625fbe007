"""What visitors of a room have in common: how they are asked to finish, where the server is, how they say numbers."""

import os
import signal
from pathlib import Path

import pytest
import trio

from program import ready
from program.trouble import WENT_WRONG, Trouble
from program.visiting import Finish, Means, address, lasting, number_of, run


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"), (59.9, "59.9 s"), (60, "1:00 min"), (61, "1:01 min"), (3_599.9, "59:59 min"),
        (3_600, "1:00:00"), (3_661, "1:01:01"), (36_000, "10:00:00"),
    ],
)  # fmt: skip
def test_how_long_something_lasted(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


@pytest.mark.parametrize(("count", "said"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines"), (1_000, "1,000 lines")])
def test_one_is_not_many(count: int, said: str) -> None:
    assert number_of(count, "line") == said


# -- where the server is


def announced(folder: Path, sidekick: str | None) -> Path:
    with ready.ReadyFiles([folder / ready.SERVER_FILE]) as files:
        files.announce({"sidekick": sidekick})
        content = (folder / ready.SERVER_FILE).read_bytes()
    (folder / ready.SERVER_FILE).write_bytes(content)
    return folder


def test_an_address_that_is_given_is_taken_else_what_the_server_has_announced(tmp_path: Path) -> None:
    assert address("http://here:1", tmp_path) == "http://here:1"
    announced(tmp_path, "http://there:2")
    assert address(None, tmp_path) == "http://there:2"
    assert address("http://here:1", tmp_path) == "http://here:1"


def test_where_there_is_no_server_one_is_told_how_to_start_it(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=r"No server is running with its state in .*Start one with `troupe`") as trouble:
        address(None, tmp_path)
    assert trouble.value.code == WENT_WRONG


def test_a_server_without_sidekick_is_no_secret(tmp_path: Path) -> None:
    announced(tmp_path, None)
    with pytest.raises(
        Trouble, match=rf"is running \(pid {os.getpid()}\), but its Sidekick is switched off"
    ) as trouble:
        address(None, tmp_path)
    assert trouble.value.code == WENT_WRONG


@pytest.mark.parametrize(("room", "entered"), [("default", ""), ("", ""), ("r", "r"), ("Default", "Default")])
def test_the_default_room_has_no_name_on_the_wire(room: str, entered: str) -> None:
    visits: list[tuple[str, str]] = []
    means = Means(lambda url, name: visits.append((url, name)), lambda: "id", lambda: 1.5)  # type: ignore[arg-type, return-value]
    means.enter("http://a", room)
    assert visits == [("http://a", entered)]
    assert b'"timestamp":1500' in means.announce("me", "hero", "online").replace(b" ", b"")


# -- being asked to finish


async def test_who_is_asked_to_finish_waits_for_nothing_more(autojump_clock: object) -> None:
    stop = Finish()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(asks_later, stop, 5)
        with stop.waiting() as scope:
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert trio.current_time() == pytest.approx(5)
    with stop.waiting() as scope:  # and does not begin to
        await trio.sleep_forever()
    assert trio.current_time() == pytest.approx(5)
    assert stop.asked
    assert stop.code == 128 + signal.SIGTERM


async def test_a_wait_inside_of_another_gives_it_back(autojump_clock: object) -> None:
    stop = Finish()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(asks_later, stop, 5)
        with stop.waiting() as outer:
            with stop.waiting(until=trio.current_time() + 2) as inner:
                await trio.sleep_forever()
            assert inner.cancelled_caught
            assert trio.current_time() == pytest.approx(2)
            await trio.sleep_forever()
    assert outer.cancelled_caught
    assert trio.current_time() == pytest.approx(5)


async def asks_later(stop: Finish, seconds: float) -> None:
    await trio.sleep(seconds)
    stop.ask(signal.SIGTERM)


# -- the exit code


async def finishes(stop: Finish) -> int:
    return 7


async def waits_until_asked(stop: Finish) -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    with stop.waiting():
        await trio.sleep_forever()
    return 8


async def goes_on_for_ever(stop: Finish) -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    with stop.waiting():
        await trio.sleep_forever()
    os.kill(os.getpid(), signal.SIGTERM)
    await trio.sleep_forever()
    return 9


async def fails(stop: Finish) -> int:
    raise Trouble("no such room", code=3)


def test_the_code_is_that_of_the_work_or_of_the_second_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("program.signals.ECHO", 0.0)  # the second is no echo of the first
    assert run(finishes) == 7
    assert run(waits_until_asked) == 8
    assert run(goes_on_for_ever) == 128 + signal.SIGTERM


def test_what_goes_wrong_comes_out_alone() -> None:
    with pytest.raises(Trouble, match=r"^no such room$"):
        run(fails)
