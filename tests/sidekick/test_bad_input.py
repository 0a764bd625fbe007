"""Bad input to the port of a real server: the sender is told what is wrong, in its own dialect or by a close code, and
the others in the same room notice nothing."""

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
import trio

from tests.house.running import Server, server
from tests.patience import PATIENCE
from tests.sidekick.kit import Json, announce, bystanders, peer, resident_mib, said, spawn, update
from tests.transports.house import (
    BINARY,
    CONTINUATION,
    PING,
    TEXT,
    frame,
    read_all,
    read_until,
)
from tests.transports.websocket.test_fast_lane import VIOLATIONS

pytestmark = pytest.mark.slow
MIB = 1 << 20


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all of them; what it has logged is looked at when it has stopped."""
    with server(tmp_path_factory.mktemp("bad input")) as running:
        yield running.ready()
        assert running.stop() == 0
        assert "Traceback" not in running.said
        assert "contained" not in running.said


def text(*messages: bytes) -> bytes:
    return b"".join(frame(TEXT, message) for message in messages)


def viz(value: str) -> bytes:
    """A variable of this value, for the viz that each hero has."""
    node = f'{{"id":"n","type":"list","value":{value}}}'
    options = f'{{"path":[],"valueRepresentation":{node}}}'
    payload = f'{{"action":"set","variableName":"v","options":{options}}}'
    return text(f'{{"component":"viz","type":"update","target":"mine","payload":{payload}}}'.encode())


@dataclass(frozen=True)
class Wrong:
    name: str
    frames: bytes | Callable[[], bytes]
    answer: str
    """Must be among what is said to the one who sent it, in D unless `key` says otherwise."""
    key: str = '"type":"error"'

    @property
    def data(self) -> bytes:
        return self.frames if isinstance(self.frames, bytes) else self.frames()


GRID = spawn("grid", "g", numColumns=1, numRows=1)
NAN = b'{"component":"canvas","type":"spawn","target":"c","payload":{"width":NaN,"height":1}}'
CIRCLE = [spawn("row", "a"), spawn("row", "b", parent="a"), update("row", "a", "changeParent", parent="b")]


def levels(number: int) -> list[Json]:
    """Rows, one in another."""
    return [spawn("row", "r0"), *(spawn("row", f"r{level}", parent=f"r{level - 1}") for level in range(1, number))]


def old(method: str, module: str = "grid", what: str = "spawn", **fields: object) -> bytes:
    return text(json.dumps({"id": 0, "module": module, method: what, "target": "g", **fields}).encode())


PANEL = old("method", "control", payload={})
EXPLODED = old("method", "control", "update", payload={"operation": "explode", "control_id": "b"})


WRONG = [
    # not what a message is
    Wrong("no JSON", text(b"hello"), "a message must be JSON"),
    Wrong("an empty frame", text(b""), "a message must be JSON: input data was truncated"),
    Wrong("an empty binary frame", frame(BINARY), "a message must be JSON: input data was truncated"),
    Wrong("binary that is not UTF-8", frame(BINARY, b"{\xff\xfe}"), "a message must be UTF-8: byte 1 is not"),
    Wrong("an array", text(b"[]"), "a message must be a JSON object, not an array"),
    Wrong("an array in fragments", frame(TEXT, b"[", final=False) + frame(CONTINUATION, b"]"), "not an array"),
    Wrong(
        "control frames between fragments",
        frame(TEXT, b"[", final=False) + frame(PING, b"?") * 3 + frame(CONTINUATION, b"]"),
        "not an array",
    ),
    Wrong("a hundred thousand brackets", text(b"[" * 100_000 + b"]" * 100_000), "must not be nested so deeply"),
    Wrong("brackets that are never closed", text(b'{"a":' * 100_000), "must not be nested so deeply"),
    Wrong("an array of ten million arrays", lambda: text(b"[" + b"[]," * 10_000_000 + b"[]]"), "more than 2,000,000"),
    Wrong("ten million digits", lambda: text(b"1" * 10_000_000), "a message must be JSON: "),
    Wrong("a string of 31 MiB", lambda: text(b'"' + b"x" * (31 * MIB) + b'"'), "not a string"),
    # not what a message says
    Wrong("no fields", text(b"{}"), "component is missing"),
    Wrong("fields of wrong types", text(b'{"component":3,"type":[]}'), "component must be a string, not a number"),
    Wrong("a name of two million letters", text(b'{"component":"%s"}' % (b"x" * 2_000_000)), "type is missing"),
    Wrong("a target of a million letters", said(spawn("row", "x" * 10**6)), "1,000 characters long, not 1,000,000"),
    Wrong("a long target in an old dialect", old("type", src="x" * 10**6), "1,000 characters long", '"module":"grid"'),
    Wrong("an announce of a megabyte", said(announce("hero", "x" * MIB)), "announce: it may be 16,384 bytes long"),
    Wrong("an announce of a bystander", said({**announce("hero", "p"), "payload": {"role": "owl"}}), "announce: "),
    Wrong("a field that is missing", said(spawn("grid", "g", numColumns=3)), "grid 'g' spawn: numRows is missing"),
    Wrong("a field of a wrong type", said(spawn("grid", "g", numColumns="3", numRows=3)), "not a string"),
    Wrong("NaN for a number", text(NAN), "width must be a finite number, not NaN"),
    Wrong(
        "Infinity for a number",
        said(update("canvas", "c", "drawLine", x1=float("-inf"), y1=0, x2=0, y2=0)),
        "options.x1 must be a finite number, not -Infinity",
    ),
    Wrong("a number of 400 digits", said(spawn("grid", "g", numColumns=10**400, numRows=1)), "cells"),
    Wrong("a number of 30 digits", said(spawn("grid", "g", numColumns=10**30, numRows=1)), "cells"),
    Wrong("a number of 10,000 digits", text(b'{"component":"grid","type":' + b"9" * 10_000 + b"}"), "must be JSON"),
    Wrong("half a surrogate in the name of a type", text(b'{"component":"\\ud800","type":3}'), "type must be a string"),
    Wrong("a key given twice", text(b'{"component":"grid","type":"spawn","type":4}'), "type must be a string"),
    # not what there is on the board
    Wrong("an update of nothing", said(update("grid", "none", "clearCell", x=1, y=1)), "spawn it first"),
    Wrong("a removal of nothing", said({"component": "row", "type": "remove", "target": "none"}), "spawn it first"),
    Wrong("a parent that is not there", said(spawn("row", "r", parent="none")), "no container 'none'"),
    Wrong("an id that is taken", said(spawn("row", "twice"), spawn("row", "twice")), "this id is taken"),
    Wrong("what is another's", said(spawn("console", "theirs", showInput=False)), "taken by another script"),
    Wrong("a circle", said(*CIRCLE), "nothing can be put into itself"),
    Wrong("itself inside itself", said(CIRCLE[0], update("row", "a", "changeParent", parent="a")), "put into itself"),
    Wrong("a cell that is not there", said(GRID, update("grid", "g", "clearCell", x=9, y=0)), "grid 'g' clearCell: "),
    Wrong(
        "ten thousand components", lambda: said(*(spawn("row", f"r{n}") for n in range(10_001))), "10,000 components"
    ),
    Wrong("a tree of a hundred levels", said(*levels(100)), "64 containers, one in another"),
    # in words that are not D's
    Wrong("what A cannot mean", old("method", payload={"size": "big"}), "size", '"method":"error"'),
    Wrong("what no panel does", PANEL + EXPLODED, 'must be \\"add\\" or \\"remove\\", not', '"method":"error"'),
    Wrong("what B cannot mean", old("method", payload={"numColumns": "x"}), "numColumns", '"method":"error"'),
    Wrong(
        "what C cannot mean", old("type", payload={"numColumns": "x"}), "numColumns", '"module":"grid","type":"error"'
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
async def test_what_is_wrong_is_answered_in_words_and_others_notice_nothing(house: Server, wrong: Wrong) -> None:
    room = f"wrong-{WRONG.index(wrong)}"
    async with bystanders(house, room) as others, peer(house, room) as culprit:
        await others.undisturbed()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(culprit.send_all, wrong.data)
            answer = await read_until(culprit, wrong.answer.encode())
        assert wrong.key.encode() in answer
        await others.undisturbed()
        await culprit.send_all(text(b"are you there"))
        await read_until(culprit, b"must be JSON")


CODES: dict[str, int | None] = {
    **dict.fromkeys(VIOLATIONS, 1002),
    "not UTF-8": 1007,
    "half a letter": 1007,
    "a surrogate": 1007,
    "a close": 1001,
    "a close without a code": None,
}


@pytest.mark.parametrize("name", VIOLATIONS)
async def test_what_breaks_the_protocol_is_closed_with_its_code(house: Server, name: str) -> None:
    async with bystanders(house, "violation") as others, peer(house, "violation") as culprit:
        await culprit.send_all(said(announce("sidekick", "culprit")) + VIOLATIONS[name])
        with trio.fail_after(PATIENCE):
            answer = await read_all(culprit)
        code = CODES[name]
        assert answer[answer.rindex(b"\x88") :][2:4] == (b"" if code is None else struct.pack("!H", code))
        await others.shown(b'"offline"')
        await others.undisturbed()


async def test_a_hundred_megabytes_are_1009(house: Server) -> None:
    async with bystanders(house, "large") as others, peer(house, "large") as culprit:
        async with trio.open_nursery() as nursery:

            async def send() -> None:
                with pytest.raises(trio.BrokenResourceError):
                    await culprit.send_all(frame(TEXT, b"x" * 100_000_000))

            nursery.start_soon(send)
            with trio.fail_after(PATIENCE):
                answer = await read_all(culprit)
        assert answer[answer.rindex(b"\x88") :][2:4] == struct.pack("!H", 1009)
        await others.undisturbed()


async def test_a_frame_that_only_says_that_it_has_100_mb_costs_what_has_come(house: Server) -> None:
    async with bystanders(house, "boast") as others, AsyncExitStack() as stack:
        before, boast = resident_mib(house), frame(TEXT, b"x" * 100_000_000)[:1000]
        for _ in range(50):
            culprit = await stack.enter_async_context(peer(house, "boast"))
            await culprit.send_all(boast)
        await others.undisturbed()
        assert resident_mib(house) - before < 20


@pytest.mark.parametrize("kind", ["frames", "fragments"])
async def test_unfinished_messages_of_many_are_bounded_over_all_and_the_oldest_gives_way(
    house: Server, kind: str
) -> None:
    """Sixteen times 30 MiB; 256 MiB are kept."""
    size = 30 * MIB
    most = frame(TEXT, b"x" * size)[: size - 1] if kind == "frames" else frame(TEXT, b"x" * size, final=False)
    async with bystanders(house, kind) as others, AsyncExitStack() as stack:
        before = resident_mib(house)
        culprits = [await stack.enter_async_context(peer(house, kind)) for _ in range(16)]
        for culprit in culprits:
            await culprit.send_all(most)
            await others.undisturbed()
        with trio.fail_after(PATIENCE):
            goodbye = await read_all(culprits[0])
        assert goodbye[2:4] == struct.pack("!H", 1013)
        assert b"no more room for it" in goodbye
        assert resident_mib(house) - before < 450
        async with peer(house, kind) as honest:
            await honest.send_all(text(b'"' + b"x" * (20 * MIB) + b'"'))
            await read_until(honest, b"not a string")
        await others.undisturbed()


async def test_a_megabyte_of_pings_is_answered(house: Server) -> None:
    ping = frame(PING, b"x" * 125)
    times = MIB // len(ping) // 8
    async with bystanders(house, "pings") as others, peer(house, "pings") as culprit:
        for _ in range(8):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(culprit.send_all, ping * times + text(b"that is all"))
                await others.undisturbed()
                answer = await read_until(culprit, b"must be JSON")
            assert answer.count(b"\x8a\x7d" + b"x" * 125) == times


async def test_a_hero_that_never_reads_what_is_wrong_costs_a_bounded_sum(house: Server) -> None:
    async with bystanders(house, "deaf") as others, peer(house, "deaf") as culprit:
        before = resident_mib(house)
        await culprit.send_all(said(announce("hero", "culprit")))
        for _ in range(20):
            await culprit.send_all(text(b"{}") * 5_000)
            await others.undisturbed()
        assert resident_mib(house) - before < 40


async def test_a_screen_that_never_reads_a_flood_costs_a_bounded_sum(house: Server) -> None:
    async with bystanders(house, "flood") as others, peer(house, "flood") as hero, peer(house, "flood") as culprit:
        await culprit.send_all(said(announce("sidekick", "culprit")))
        await hero.send_all(said(announce("hero", "flooding"), spawn("label", "l", text="")))
        before = resident_mib(house)
        for _ in range(30):
            await hero.send_all(said(update("label", "l", "setText", text="x" * MIB)))
            await others.undisturbed()
        assert resident_mib(house) - before < 60


async def test_what_python_writes_and_no_browser_reads_is_put_right_on_its_way(house: Server) -> None:
    async with bystanders(house, "python") as others, peer(house, "python") as hero:
        await hero.send_all(said(announce("hero", "python"), spawn("viz", "mine"), spawn("label", "l", text="\ud800!")))
        await others.shown("\N{REPLACEMENT CHARACTER}!".encode())
        await hero.send_all(viz("[NaN,-Infinity]"))
        await others.shown(b'["NaN","-Infinity"]')
        await hero.send_all(viz("[" * 100_000 + "]" * 100_000))
        await read_until(hero, b"must not be nested so deeply")
        await others.undisturbed()
