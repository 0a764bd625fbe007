"""One request's body: each of its limits may be reached, and whatever becomes of it, the wire is let go and nothing is
kept. Against the real Hypercorn it is tried in `test_http.py`."""

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from transports.http.upload import Upload
from transports.wire.backlog import Backlog
from transports.wire.limits import HttpLimits
from transports.wire.refusal import Refusal

LIMITS = HttpLimits(body_bytes=100, unread_bytes=10, body_step=5, body_seconds=3.0)
GONE = {"type": "http.disconnect"}
TOO_LARGE = "The body of the request is larger than 100 bytes; send less at once."
TOO_SLOW = (
    "The body of the request came too slowly: less than 5 bytes in 3 seconds. Send it again, faster or in smaller "
    "requests."
)
NO_ROOM = "Other clients sent so much that there was no room left for this request; send it again."


class Wire:
    held = False

    def hold(self) -> None:
        self.held = True

    def release(self) -> None:
        self.held = False


class Client:
    """Sends parts, and hears how the collecting has ended."""

    def __init__(self, limits: HttpLimits = LIMITS) -> None:
        self.wire = Wire()
        self.backlog = Backlog(1_000)
        self._send, self._parts = trio.open_memory_channel[dict[str, Any]](1_000)
        self.upload = Upload(self._parts.receive, cast("Any", self.wire), limits, self.backlog)
        self.ended: list[Refusal | None] = []

    async def collect(self) -> None:
        self.ended.append(await self.upload.collect())

    async def sends(self, size: int, *, last: bool = False) -> None:
        self._send.send_nowait({"type": "http.request", "body": bytes(size), "more_body": not last})
        await wait_all_tasks_blocked()

    async def goes(self) -> None:
        self._send.send_nowait(GONE)
        await wait_all_tasks_blocked()

    async def taken(self) -> tuple[int, bool]:
        """How many bytes the application is given, and whether more comes."""
        with trio.fail_after(1.0):
            message = await self.upload.receive()
        assert message["type"] == "http.request"
        return len(message["body"]), message["more_body"]


@pytest.fixture
async def client(nursery: trio.Nursery) -> Client:
    client = Client()
    nursery.start_soon(client.collect)
    await wait_all_tasks_blocked()
    return client


async def test_a_body_may_be_as_large_as_it_may_be(client: Client) -> None:
    for _ in range(10):
        await client.sends(10)
        assert await client.taken() == (10, True)
    assert client.backlog.kept_bytes == 100
    await client.sends(1)
    [refusal] = client.ended
    assert refusal is not None
    assert (refusal.status, refusal.sentence) == (413, TOO_LARGE)
    assert client.backlog.kept_bytes == 0


async def test_a_body_that_nobody_takes_holds_the_wire_until_somebody_does(
    client: Client, autojump_clock: MockClock
) -> None:
    await client.sends(10)
    assert not client.wire.held
    await client.sends(1)
    assert client.wire.held
    await trio.sleep(1_000)  # the client is not blamed for that
    assert await client.taken() == (11, True)
    assert not client.wire.held
    await trio.sleep(2.5)
    assert client.ended == []
    await trio.sleep(1.0)
    [refusal] = client.ended
    assert refusal is not None
    assert (refusal.status, refusal.sentence) == (408, TOO_SLOW)


async def test_a_body_has_to_come_step_by_step(client: Client, autojump_clock: MockClock) -> None:
    for size in (5, 2, 3, 9):
        await trio.sleep(2.0 if size != 3 else 0.5)
        await client.sends(size)
        if size != 2:
            await client.taken()
    await trio.sleep(2.0)
    assert client.ended == []
    await client.sends(4)  # one less than a step
    await trio.sleep(0.5)
    assert client.ended == []
    await trio.sleep(1.0)
    [refusal] = client.ended
    assert refusal is not None
    assert refusal.status == 408


async def test_a_body_that_has_come_is_handed_over_once_however_late(client: Client, autojump_clock: MockClock) -> None:
    await client.sends(12)
    await client.sends(3, last=True)
    assert client.upload.complete
    await trio.sleep(1_000)
    assert await client.taken() == (15, False)
    with pytest.raises(trio.TooSlowError):
        await client.taken()
    await client.goes()
    assert client.ended == [None]


async def test_an_empty_body_is_handed_over_too(client: Client) -> None:
    await client.sends(0, last=True)
    assert await client.taken() == (0, False)


@pytest.mark.parametrize("size", [0, 11])
async def test_a_client_that_goes_is_no_refusal_and_leaves_nothing(client: Client, size: int) -> None:
    await client.sends(size)
    assert client.backlog.kept_bytes == size
    await client.goes()
    assert client.ended == [None]
    assert client.backlog.kept_bytes == 0


async def test_a_body_that_has_to_give_way_is_told_so(client: Client) -> None:
    await client.sends(4)
    client.upload.give_way()
    await wait_all_tasks_blocked()
    [refusal] = client.ended
    assert refusal is not None
    assert (refusal.status, refusal.sentence) == (503, NO_ROOM)
    assert client.backlog.kept_bytes == 0


async def test_a_body_that_nobody_needs_is_let_in_and_dropped(nursery: trio.Nursery) -> None:
    client, collecting = Client(), trio.CancelScope()

    async def collect() -> None:
        with collecting:
            await client.collect()

    nursery.start_soon(collect)
    await wait_all_tasks_blocked()
    await client.sends(11)
    assert client.wire.held
    collecting.cancel()
    await wait_all_tasks_blocked()
    dropped = trio.Event()

    async def drop() -> None:
        await client.upload.drop()
        dropped.set()

    nursery.start_soon(drop)
    await wait_all_tasks_blocked()
    assert not client.wire.held
    for _ in range(20):
        await client.sends(10)
    assert not client.wire.held
    assert not dropped.is_set()
    await client.goes()
    assert dropped.is_set()
