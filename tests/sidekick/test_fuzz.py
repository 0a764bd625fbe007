"""Frames that nobody thought of, through the whole of it: a door, the port, a room and its peers, over streams in
memory and in virtual time. Whatever comes, the two others in the room are not disturbed, nothing crashes, and nothing
is left.
"""

import json
from contextlib import suppress

import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.plenty import plenty
from tests.sidekick.codec.test_properties import near_message
from tests.sidekick.kit import announce, said, spawn, update
from tests.sidekick.scene.stories import stories
from tests.sidekick.test_room import house as rooms
from tests.transports.house import BINARY, CONTINUATION, PING, PONG, TEXT, House, frame, open_house, read_all
from tests.transports.websocket.test_fast_lane import VIOLATIONS, cut
from transports.sidekick.port import sidekick_websocket
from transports.wire.limits import DoorLimits, WebSocketLimits

pytestmark = pytest.mark.slow
LIMITS = DoorLimits(websocket=WebSocketLimits(message_bytes=100_000, backlog_bytes=200_000))

messages = near_message.map(lambda message: json.dumps(message).encode("utf-8", "replace"))
CHANGE = '{"component":"%s","type":"update","target":"%s","payload":{"action":"%s","options":{%s}}}'
NESTS = [
    CHANGE % ("chart", "deep-chart", "shine", '"more":%s'),
    CHANGE % ("markdown", "deep-text", "setText", '"text":"","more":%s'),
    CHANGE % ("viz", "v", 'set","variableName":"a', '"valueRepresentation":{"id":"1","type":"list","value":%s}'),
    '{"module":"grid","type":"spawn","target":"h","payload":{"numColumns":1,"numRows":1,"more":%s}}',
]
nests = st.builds(
    lambda depth, message: (message % ("[" * depth + "]" * depth)).encode(),
    st.one_of(st.integers(0, 1100), st.integers(850, 980)),
    st.sampled_from(NESTS),
)
openings = st.sampled_from(
    [
        announce("hero", "fuzz"),
        announce("sidekick", "fuzz", "0.0.8"),
        announce("hero", "fuzz", "0.0.7"),
        spawn("viz", "v"),
    ]
).map(said)
payloads = st.one_of(messages, messages, nests, st.binary(max_size=60), st.text(max_size=30).map(str.encode))
frames = st.one_of(
    payloads.map(lambda payload: frame(TEXT, payload)),
    payloads.map(lambda payload: frame(BINARY, payload)),
    stories().map(lambda story: b"".join(frame(TEXT, text) for text in story[:8])),
    st.builds(lambda payload, at: frame(TEXT, payload[:at], final=False) + frame(CONTINUATION, payload[at:]),
              payloads, st.integers(0, 60)),
    st.sampled_from([frame(PING, b"?"), frame(PONG), frame(CONTINUATION), *VIOLATIONS.values()]),
    st.binary(max_size=40),
)  # fmt: skip


class Pair:
    """A hero and a page of the same room, who speak D and the released page's words."""

    def __init__(self, house: House) -> None:
        self.hero, self.screen = house.memory_client(), house.memory_client()
        self.seen = b""
        self._house = house
        self._count = 0

    async def settle(self, nursery: trio.Nursery) -> None:
        board = spawn("label", "theirs", text=""), spawn("chart", "deep-chart"), spawn("markdown", "deep-text", text="")
        await self.hero.send_all(self._house.upgrade() + said(announce("hero", "theirs"), *board))
        await self.screen.send_all(self._house.upgrade() + said(announce("sidekick", "page", "0.0.8")))
        nursery.start_soon(read_all, self.hero)
        nursery.start_soon(self._watch)
        await self.undisturbed()

    async def _watch(self) -> None:
        while part := await self.screen.receive_some():
            self.seen += part

    async def undisturbed(self) -> None:
        self._count += 1
        text = f"the {self._count}. word"
        await self.hero.send_all(said(update("label", "theirs", "setText", text=text)))
        await trio.testing.wait_all_tasks_blocked()
        assert self.seen.count(text.encode()) == 1


async def thrown(data: bytes, places: list[int]) -> None:
    async with (
        rooms() as troupe,
        open_house(on_websocket=sidekick_websocket(troupe.desk), limits=LIMITS) as house,
        trio.open_nursery() as nursery,
    ):
        pair = Pair(house)
        await pair.settle(nursery)
        culprit = house.memory_client()
        await culprit.send_all(house.upgrade())
        with suppress(trio.BrokenResourceError):
            for part in cut(data, places):
                await culprit.send_all(part)
                await trio.testing.wait_all_tasks_blocked()
        await pair.undisturbed()
        await culprit.send_stream.aclose()
        await read_all(culprit)
        await trio.testing.wait_all_tasks_blocked()
        await pair.undisturbed()
        peers = troupe.top.child("peers")
        assert peers is not None
        assert len(peers.children()) == 2
        assert troupe.room().statistics().restarts == 0
        assert house.log.contained() == []
        assert house.door._websockets._backlog.kept_bytes == 0
        nursery.cancel_scope.cancel()


@settings(deadline=None, max_examples=plenty(35), suppress_health_check=list(HealthCheck))
@given(opening=openings, sent=st.lists(frames, max_size=10), places=st.lists(st.integers(0, 400), max_size=5))
@example(b"", [frame(TEXT, b"x" * 90_000)[:80_000]], [])
@example(b"", [frame(TEXT, b"x" * 90_000, final=False)], [70_000])
def test_whatever_one_peer_sends_the_others_are_not_disturbed(
    opening: bytes, sent: list[bytes], places: list[int]
) -> None:
    trio.run(thrown, opening + b"".join(sent), places, clock=trio.testing.MockClock(autojump_threshold=0))
