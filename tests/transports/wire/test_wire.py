"""What a wire knows of what is there to read, and that it is so, whatever comes when and whoever reads how."""

import itertools
import math
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from tests.plenty import plenty
from transports.wire.lookout import Lookout
from transports.wire.turns import LONG, turns
from transports.wire.wire import LAST, MORE, NEWS, OVER, QUIET, SIP, Inflow, Wire

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no lookout")

MOST = 64
MOVES = {
    "something is reported, and nobody waits": {QUIET: NEWS},
    "a read takes less than it may": {NEWS: QUIET, MORE: QUIET},
    "a read takes as much as it may": {QUIET: MORE, NEWS: MORE},
    "the end is reported": {QUIET: LAST, NEWS: LAST, MORE: LAST},
    "the end is read, or the socket is closed": {QUIET: OVER, NEWS: OVER, MORE: OVER, LAST: OVER},
}
NOBODY, READS, TAKES, REFUSES = "nobody", "reads", "takes", "refuses"
NOTHING, WORD, MUCH, SIPFUL, LEAVE, CUT = "nothing", "word", "much", "sipful", "leave", "cut"
SAID = {WORD: b"word", MUCH: bytes(range(100)), SIPFUL: b"x" * SIP}
Step = tuple[str, str]
"""Who waits, and what happens then."""


class NotingWire(Wire):
    """Notes each inflow that it has had."""

    had: list[Inflow]

    @property
    def _inflow(self) -> Inflow:
        return self.had[-1]

    @_inflow.setter
    def _inflow(self, inflow: Inflow) -> None:
        self.__dict__.setdefault("had", []).append(inflow)


class End:
    """A connection, its client, and what has come."""

    def __init__(self, watching: Lookout) -> None:
        self.client, server = socket.socketpair()
        self.server = trio.socket.from_stdlib_socket(server)
        stream = trio.SocketStream(self.server)
        self.wire = NotingWire(stream, self.server.close, send_seconds=30, lookout=watching)
        self.said = self.got = b""
        self.has_left = self.is_cut = False

    async def read(self, how: str) -> None:
        def take(data: bytes) -> bool:
            if how == TAKES:
                self.got += data
            return how == TAKES

        try:
            data = await self.wire.receive_directly(MOST, None if how == READS else take)
        except trio.ClosedResourceError:
            assert self.is_cut
        else:
            self.got += data

    def happens(self, what: str) -> None:
        if what == CUT:
            self.is_cut = True
            self.wire.cut()
        elif not self.has_left and not self.is_cut:
            if what == LEAVE:
                self.has_left = True
                self.client.shutdown(socket.SHUT_WR)
            elif what != NOTHING:
                self.client.send(SAID[what])
                self.said += SAID[what]

    async def drain(self) -> None:
        self.happens(LEAVE)
        with trio.fail_after(5):
            while self.wire._inflow is not OVER:
                await self.read(TAKES)
                await wait_all_tasks_blocked()
                self.check()
        assert self.got == self.said

    def check(self) -> None:
        inflow = self.wire._inflow
        if self.is_cut:
            assert inflow is OVER
            return
        try:
            there: bytes | None = socket.socket.recv(self.server._sock, 1, socket.MSG_PEEK)  # type: ignore[attr-defined]
        except BlockingIOError:
            there = None
        assert self.said.startswith(self.got)
        assert (there or b"") == self.said[len(self.got) :][:1]
        if self.wire._is_watched:
            assert inflow is not QUIET or there is None
            assert not self.has_left or inflow in (LAST, OVER)
        assert inflow is not LAST or self.has_left
        assert inflow is not OVER or there == b""


async def play(steps: list[Step]) -> list[Inflow]:
    """The inflows that a wire has had."""
    watching = Lookout()
    async with trio.open_nursery() as beside:
        beside.start_soon(watching.run)
        end = End(watching)
        try:
            for how, what in steps:
                async with trio.open_nursery() as nursery:
                    if how != NOBODY:
                        nursery.start_soon(end.read, how)
                    await wait_all_tasks_blocked()
                    end.happens(what)
                    await wait_all_tasks_blocked()
                    nursery.cancel_scope.cancel()
                end.check()
            if not end.is_cut:
                await end.drain()
        finally:
            end.wire.cut()
            end.client.close()
        beside.cancel_scope.cancel()
    return end.wire.had


def played(steps: list[Step]) -> list[Inflow]:
    return trio.run(play, steps, clock=MockClock())  # no connection takes long, however busy the machine is


def moves(had: list[Inflow]) -> set[tuple[Inflow, Inflow]]:
    return {(before, after) for before, after in itertools.pairwise(had) if before is not after}


ALL = {(before, after) for each in MOVES.values() for before, after in each.items()}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([NOBODY, READS, TAKES, TAKES, REFUSES]),
            st.sampled_from([NOTHING, WORD, WORD, MUCH, SIPFUL, LEAVE, CUT]),
        ),
        max_size=8,
    )
)
@settings(max_examples=plenty(40), deadline=None)
def test_what_is_known_of_the_inflow_is_so_and_all_comes_in_order_to_its_end(steps: list[Step]) -> None:
    assert moves(played(steps)) <= ALL


def test_every_move_happens() -> None:
    walks: list[list[Step]] = [
        [(TAKES, WORD), (NOBODY, WORD), (READS, NOTHING)],
        [(TAKES, WORD), (NOBODY, MUCH), (READS, NOTHING)],
        [(TAKES, SIPFUL), (READS, WORD)],
        [(TAKES, LEAVE)],
        [(TAKES, WORD), (NOBODY, WORD), (NOBODY, LEAVE)],
        [(TAKES, SIPFUL), (NOBODY, LEAVE)],
        [(READS, LEAVE)],
        [(TAKES, WORD), (NOBODY, WORD), (NOBODY, CUT)],
        [(TAKES, SIPFUL), (NOBODY, CUT)],
        [(TAKES, WORD), (NOBODY, LEAVE), (NOBODY, CUT)],
    ]
    happened: set[Any] = set()
    for walk in walks:
        happened |= moves(played(walk))
    assert happened == ALL


@pytest.mark.parametrize("end", ["a word", "the end", "a reset", "a word, and the end"])
async def test_who_ends_waits_for_no_turn_and_who_goes_on_does(end: str, mock_clock: MockClock) -> None:
    """However greedy it was. A room is left when the end is read, and others wait for its place."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server = trio.socket.from_stdlib_socket(listener.accept()[0])
    wire = Wire(trio.SocketStream(server), server.close, send_seconds=30)
    client.send(b"first")
    assert await wire.receive_directly(MOST) == b"first"
    mock_clock.jump(2 * LONG)  # so long it took to handle that
    if "word" in end:
        client.send(b"word")
    if "the end" in end:
        client.shutdown(socket.SHUT_WR)
    if end == "a reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if "word" not in end:
        client.close()
    before = turns().taken
    with suppress(trio.BrokenResourceError):
        assert await wire.receive_directly(MOST) == (b"word" if "word" in end else b"")
    assert turns().taken - before == ("word" in end)
    wire.cut()
    client.close()


async def test_silence_is_from_our_last_word_to_the_clients_next(autojump_clock: MockClock) -> None:
    ours, theirs = lockstep_stream_pair()
    wire = Wire(ours, lambda: None, send_seconds=30.0)

    async def client(seconds: float) -> None:
        await trio.sleep(seconds)
        await theirs.send_all(b"x")

    async def says() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(theirs.receive_some, 1)
            await wire.send_all(b"y")

    async def hears(after: float) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client, after)
            assert await wire.receive_some(1) == b"x"

    assert wire.silence == math.inf  # nobody has said anything
    await hears(2.0)
    assert wire.silence == math.inf  # we have not
    await trio.sleep(3.0)
    await says()
    assert wire.silence == pytest.approx(-3.0)
    await hears(4.0)
    assert wire.silence == pytest.approx(4.0)
    await hears(1.0)
    assert wire.silence == pytest.approx(5.0)
    await says()
    assert wire.silence == pytest.approx(0.0)
