"""WebSockets behind the door, against the real trio-websocket: its known faults, contained."""

import socket
import struct
import tracemalloc
from typing import Any, cast

import pytest
import structlog
import trio
from trio.testing import MockClock, wait_all_tasks_blocked
from trio_websocket import ConnectionClosed

from tests.others_turns import others_turns
from tests.patience import PATIENCE
from tests.transports.house import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    frame,
    open_house,
    read_all,
    read_until,
    reason_of,
)
from tests.transports.websocket.test_fast_lane import Fast
from transports.websocket.websocket import Upgrade, check_upgrade
from transports.wire import wire
from transports.wire.head import Head
from transports.wire.limits import DoorLimits, WebSocketLimits
from transports.wire.refusal import Refusal


def close_code(data: bytes) -> int:
    """The code of the close frame at the end of what a client has read."""
    at = data.rindex(b"\x88")
    return int(struct.unpack("!H", data[at + 2 : at + 4])[0])


# The handshake


async def test_a_handler_sees_the_request() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade("/who?a=b", "X-Name: Ann"))
        port = stream.socket.getsockname()[1]
        await read_until(stream, f"/who a=b Ann 127.0.0.1:{port}".encode())


async def test_a_subprotocol_is_chosen_among_those_proposed() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade("/chosen", "Sec-WebSocket-Protocol: first, second"))
        assert b"sec-websocket-protocol: second" in (await read_until(stream, b"\r\n\r\n")).lower()


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("Connection: Upgrade", "Connection: Upgrade\r\nConnection: keep-alive"),
        ("Connection: Upgrade", "Connection: , keep-alive ,uPGRADE, \xe9"),
        ("Upgrade: websocket", "Upgrade: WebSocket, other"),
        ("Upgrade: websocket", "Upgrade: websocket\r\nUpgrade: other"),
        ("Upgrade: websocket", 'Upgrade: websocket\r\nSec-WebSocket-Extensions: \xe9; ,="'),
        ("Upgrade: websocket", "Upgrade: websocket\r\nSec-WebSocket-Protocol: \xe9"),
        ("Upgrade: websocket", "Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate"),
    ],
)
async def test_a_request_is_read_once_and_as_http_means_it(line: str, instead: str) -> None:
    """trio-websocket alone knows the last of two headers only, and fails at a letter that is not ASCII."""
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade().replace(line.encode(), instead.encode("latin-1")) + frame(TEXT, b"hi"))
        answer = await read_until(stream, b"\x02hi")
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer  # what RFC 6455 computes of this key
        assert b"extensions" not in answer.lower()


async def test_choosing_a_subprotocol_nobody_proposed_is_the_handlers_mistake() -> None:
    async with open_house() as house:
        assert (await house.exchange(house.upgrade("/chosen"))).startswith(b"HTTP/1.1 500 ")
        assert "the client proposed (), not 'second'" in house.log.contained()[0]


async def test_an_upgrade_is_accepted_or_rejected_once() -> None:
    upgrade = Upgrade(Head("GET", "/", "1.1", (), b""), "", cast("Any", None), cast("Any", None), cast("Any", None))
    upgrade.answered = True
    for answer in (upgrade.accept(), upgrade.accept_fast(), upgrade.reject(404, "There is none.")):
        with pytest.raises(RuntimeError, match=r"^this upgrade has already been accepted or rejected$"):
            await answer


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/forbidden", 403, b"You may not."),
        ("/nowhere", 404, b"There is no WebSocket at this path."),
        ("/broken-before", 500, b"The server failed at this request; its log says why."),
    ],
)
async def test_an_upgrade_that_is_not_accepted_is_answered(path: str, status: int, sentence: bytes) -> None:
    async with open_house() as house:
        answer = await house.exchange(house.upgrade(path))
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert answer.endswith(sentence + b"\n")
        assert await house.is_healthy()


UPGRADE = {
    "connection": "keep-alive, Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def upgrade(method: str = "GET", version: str = "1.1", **changed: str | None) -> Head:
    named = {name.replace("_", "-"): value for name, value in changed.items()}
    headers = tuple((name, value) for name, value in (UPGRADE | named).items() if value is not None)
    return Head(method, "/", version, headers, b"")


@pytest.mark.parametrize(
    ("head", "status", "sentence"),
    [
        (upgrade("POST"), 400, "A WebSocket begins with a GET request in HTTP/1.1."),
        (upgrade(version="1.0"), 400, "A WebSocket begins with a GET request in HTTP/1.1."),
        *(
            (
                upgrade(connection=connection),
                400,
                "The request has 'Upgrade: websocket' but not 'Connection: Upgrade'.",
            )
            for connection in (None, "keep-alive")
        ),
        (upgrade(content_length="1"), 400, "A request for a WebSocket has no body."),
        (upgrade(transfer_encoding="chunked"), 400, "A request for a WebSocket has no body."),
        *(
            (
                upgrade(sec_websocket_version=version),
                426,
                "This server speaks version 13 of WebSocket; ask for it with 'Sec-WebSocket-Version: 13'.",
            )
            for version in (None, "8", "013")
        ),
        (upgrade(sec_websocket_key=None), 400, "A WebSocket needs one Sec-WebSocket-Key header."),
        *(
            (
                upgrade(sec_websocket_key=key),
                400,
                "The Sec-WebSocket-Key is malformed; it must be 16 random bytes in Base64.",
            )
            for key in ("", "dGhlIHNhbXBsZSBub25jZQ", "x" + UPGRADE["sec-websocket-key"])
        ),
    ],
)
def test_an_upgrade_that_the_library_would_reject_is_refused_in_words(head: Head, status: int, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_upgrade(head)
    assert (refused.value.status, refused.value.sentence) == (status, sentence)
    if status == 426:
        answer = refused.value.response()
        assert b"sec-websocket-version: 13\r\nupgrade: websocket\r\nconnection: upgrade\r\n" in answer


@pytest.mark.parametrize("head", [upgrade(), upgrade(content_length="0"), upgrade(connection="UPGRADE")])
def test_an_upgrade_that_has_all_it_needs_is_not_refused(head: Head) -> None:
    check_upgrade(head)


# Messages


@pytest.mark.parametrize("message", ["", "text", "€" * 1000, b"", b"\0\xff" * 1000, "x" * 2**20], ids=len)
async def test_messages_arrive_as_they_were_sent(message: str | bytes) -> None:
    async with open_house() as house, house.websocket() as client:
        await client.send_message(message)
        assert await client.get_message() == message


async def test_a_message_may_come_in_fragments() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade() + frame(TEXT, b"in ", final=False) + frame(PING, b"!"))
        await stream.send_all(frame(CONTINUATION, b"fragments"))
        assert b"\x81\x0cin fragments" in await read_until(stream, b"in fragments")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"x" * 1000, None),
        (b"x" * 1001, 1009),
        ("x" * 1000, None),
        ("€" * 333, None),
        ("€" * 334, 1009),
        ("€" * 40_000, 1009),
    ],
    ids=[
        "1000 bytes",
        "1001 bytes",
        "1000 letters",
        "999 bytes in 333 letters",
        "1002 bytes in 334 letters",
        "120,000 bytes",
    ],
)
async def test_the_limit_of_a_message_is_in_bytes(message: str | bytes, code: int | None) -> None:
    async with open_house(limits=DoorLimits(websocket=WebSocketLimits(message_bytes=1000))) as house:
        async with house.websocket() as client:
            await client.send_message(message)
            if code is None:
                assert await client.get_message() == message
                return
            with pytest.raises(ConnectionClosed) as closed:
                await client.get_message()
            assert reason_of(closed).code == code
        await house.all_gone()
        assert [each.code for each in house.events.closed] == [code]


# Ends


@pytest.mark.parametrize("on_websocket", [None, Fast], ids=["slow", "fast"])
@pytest.mark.parametrize("fragments", [100, 101])
async def test_a_message_may_come_in_so_many_fragments_and_no_more(
    on_websocket: type[Fast] | None, fragments: int
) -> None:
    limits = DoorLimits(websocket=WebSocketLimits(fragments=100))
    parts = [frame(CONTINUATION, b"x", final=number == fragments) for number in range(2, fragments + 1)]
    message = frame(PING).join([frame(TEXT, b"x", final=False), *parts])
    async with open_house(limits=limits, **({"on_websocket": on_websocket()} if on_websocket else {})) as house:
        for size in (7, len(message)):
            stream = house.memory_client()
            await stream.send_all(house.upgrade() + frame(TEXT, b"y" * 101))
            for at in range(0, len(message), size):
                await stream.send_all(message[at : at + size])
                if size < 8:
                    await wait_all_tasks_blocked()
            if fragments == 100:
                await read_until(stream, b"x" * 100)
                await stream.aclose()
            else:
                answer = await read_all(stream)
                assert close_code(answer) == 1008
                assert answer.endswith(b"a message may come in 100 fragments; send it in fewer")


@pytest.mark.slow
@pytest.mark.parametrize("on_websocket", [None, Fast], ids=["slow", "fast"])
@pytest.mark.parametrize("opcode", [TEXT, BINARY], ids=["text", "binary"])
async def test_half_a_message_costs_its_bytes_however_small_its_fragments(
    on_websocket: type[Fast] | None, opcode: int
) -> None:
    many = frame(CONTINUATION, b"xy", final=False) * 4000
    async with open_house(**({"on_websocket": on_websocket()} if on_websocket else {})) as house:
        stream = house.memory_client()
        await stream.send_all(house.upgrade() + frame(opcode, b"xy" * 100, final=False))
        await wait_all_tasks_blocked()
        tracemalloc.start()
        try:
            await stream.send_all(many)
            await wait_all_tasks_blocked()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 100_000  # as so many objects it is over 200,000
        await stream.send_all(frame(CONTINUATION, b"z"))
        await read_until(stream, b"xyz")


async def test_what_came_before_a_clean_close_is_received_before_it() -> None:
    async with open_house() as house:
        async with house.websocket("/slow") as client:
            for number in range(8):
                await client.send_message(str(number))
            await client.aclose(1000, "that is all")
        await house.all_gone()
        assert house.events.received == [str(number) for number in range(8)]
        assert [(each.code, each.reason) for each in house.events.closed] == [(1000, "that is all")]


@pytest.mark.parametrize("end", ["end", "reset"])
async def test_a_client_that_vanishes_is_a_clean_closed_1006(end: str) -> None:
    async with open_house() as house:
        stream = await house.connect()
        await stream.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(stream, b"\x02hi")
        if end == "reset":
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()
        await house.all_gone()
        assert [each.code for each in house.events.closed] == [1006]
        assert house.log.contained() == []


async def test_a_close_without_a_code_is_1005() -> None:
    async with open_house() as house:
        await house.exchange(house.upgrade() + frame(CLOSE))
        assert [each.code for each in house.events.closed] == [1005]


async def test_a_handler_that_raises_closes_its_own_connection_with_1011() -> None:
    async with open_house() as house:
        async with house.websocket() as other, house.websocket("/broken") as client:
            with pytest.raises(ConnectionClosed) as closed:
                await client.get_message()
            assert reason_of(closed).code == 1011
            await other.send_message("hi")
            assert await other.get_message() == "hi"
        assert "a handler's mistake" in house.log.contained()[0]


async def test_a_fault_of_the_library_is_contained(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: object, event: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr("trio_websocket.WebSocketConnection._handle_ping_event", fail)
    async with open_house() as house:
        await house.exchange(house.upgrade() + frame(PING))
        await house.all_gone()
        assert "a fault" in house.log.contained()[0]
        assert [each.code for each in house.events.closed] == [1006]


async def test_pings_and_messages_that_cross_our_goodbye_do_no_harm() -> None:
    """trio-websocket alone answers the ping in a state in which wsproto raises, and the client reads a reset."""
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade() + frame(TEXT, b"hi"))
        await read_until(stream, b"\x02hi")
        house.nursery.start_soon(house.door._websockets.wind_up)
        await read_until(stream, b"the server is stopping")
        await stream.send_all(frame(PING, b"late") + frame(TEXT, b"late") + frame(CLOSE, b"\x03\xe9"))
        assert await stream.receive_some() == b""
        await house.all_gone()
        assert house.log.contained() == []
        assert [each.code for each in house.events.closed] == [1001]


@pytest.mark.parametrize(
    ("word", "code"), [(frame(CLOSE, b"\x0f\xa0bye"), 4000), (frame(TEXT, b"\xff"), 1007), (frame(3), 1002)]
)
async def test_a_client_is_told_its_end_although_much_was_being_sent(word: bytes, code: int) -> None:
    async with open_house() as house:
        for _ in range(5):
            answer = await house.exchange(house.upgrade("/flood") + word)
            assert answer.rpartition(b"xxx")[2][2:4] == struct.pack("!H", code)
        await house.all_gone()
        assert [each.code for each in house.events.closed] == [code] * 5


async def test_what_comes_in_one_packet_with_too_long_a_message_does_no_harm() -> None:
    limits = DoorLimits(websocket=WebSocketLimits(message_bytes=1000))
    async with open_house(limits=limits) as house:
        too_long = frame(BINARY, b"x" * 1001)
        more = frame(PING) + too_long + frame(TEXT, b"\xff")
        answer = await house.exchange(house.upgrade() + too_long + more)
        assert close_code(answer) == 1009
        await house.all_gone()
        assert house.log.contained() == []
        assert [each.code for each in house.events.closed] == [1009]


async def test_a_violation_of_the_protocol_is_told_to_the_client_and_to_the_handler() -> None:
    async with open_house() as house:
        assert close_code(await house.exchange(house.upgrade() + frame(TEXT, b"\xff"))) == 1007
        assert [each.code for each in house.events.closed] == [1007]


# Time


QUIET = WebSocketLimits(ping_seconds=20, pong_seconds=10)


async def test_a_client_that_answers_pings_may_be_silent_for_ever(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        client = await house.memory_websocket()
        await trio.sleep(3600)
        await client.send_message("still here")
        assert await client.get_message() == "still here"


async def test_no_task_waits_for_the_answer_to_a_ping(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(websocket=QUIET)) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade())
        await trio.sleep(10)
        before = trio.lowlevel.current_statistics().tasks_living
        await trio.sleep(15)
        assert b"\x89" in await client.receive_some()
        assert trio.lowlevel.current_statistics().tasks_living == before


async def test_a_client_that_does_not_answer_a_ping_has_gone(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(websocket=QUIET)) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade())
        assert b"\x89\x00" in await read_all(client)
        await wait_all_tasks_blocked()
        assert trio.current_time() == pytest.approx(30, abs=0.1)
        assert [(each.code, each.reason) for each in house.events.closed] == [
            (1006, "no sign of life for 10 seconds after a ping")
        ]


async def test_anything_a_client_sends_is_a_sign_of_life(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(websocket=QUIET)) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade())
        house.nursery.start_soon(read_all, client)
        for _ in range(50):
            await trio.sleep(9)
            await client.send_all(frame(TEXT, b"hi"))
        await wait_all_tasks_blocked()
        assert len(house.events.received) == 50
        assert house.events.closed == []


@pytest.mark.parametrize("reads_until", [0, 25, 300, 3000])
async def test_a_client_lives_as_long_as_it_reads_and_no_longer(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, reads_until: float
) -> None:
    """Its answer to a ping lies behind all that was sent before, and may come minutes later."""
    monkeypatch.setattr(wire, "read_by_client", lambda stream: min(trio.current_time(), reads_until))
    async with open_house(limits=DoorLimits(websocket=QUIET)) as house:
        client = house.memory_client()
        await client.send_all(house.upgrade())
        await read_all(client)
        ended = trio.current_time()
        assert reads_until < ended <= reads_until + QUIET.ping_seconds + QUIET.pong_seconds + 0.1
        await wait_all_tasks_blocked()
        assert [each.code for each in house.events.closed] == [1006]


async def test_a_client_is_not_blamed_for_the_time_in_which_nobody_receives(autojump_clock: MockClock) -> None:
    async with open_house(limits=DoorLimits(websocket=QUIET)) as house:
        client = await house.memory_websocket("/deaf")
        for _ in range(3):
            await client.send_message("unread")
        await trio.sleep(3600)
        assert house.door.statistics().open == 1


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    async with open_house(limits=DoorLimits(send_seconds=0.1)) as house, await house.connect() as stream:
        await stream.send_all(house.upgrade("/flood"))
        await house.all_gone()
        assert [(each.code, each.reason) for each in house.events.closed] == [(1006, "it read nothing for 0.1 seconds")]


async def test_a_handler_that_only_sends_to_a_client_that_vanished_does_not_freeze_the_process() -> None:
    """Finding 2: with Quart's WebSockets every send returns at once, and nothing else runs any more."""
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.upgrade("/flood"))
            await read_until(stream, b"xxx")
        await house.all_gone()
        assert [each.code for each in house.events.closed] == [1006]
        assert await house.is_healthy()


# Floods


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood", [frame(PING), frame(PONG), frame(CONTINUATION, final=False)], ids=["pings", "pongs", "fragments"]
)
async def test_bytes_that_never_make_a_message_are_bounded(flood: bytes) -> None:
    limits = DoorLimits(websocket=WebSocketLimits(message_bytes=1000, close_seconds=0.1))
    async with open_house(limits=limits) as house, house.websocket() as other:
        beginning = frame(BINARY, final=False) if flood == frame(CONTINUATION, final=False) else b""
        answer = await house.exchange(house.upgrade() + beginning + flood * 20_000)
        assert close_code(answer) == 1008
        await other.send_message("hi")
        with trio.fail_after(PATIENCE):
            assert await other.get_message() == "hi"


async def test_a_flood_of_pings_does_not_starve_the_others() -> None:
    async with open_house() as house, await house.connect() as flooder:
        await flooder.send_all(house.upgrade())

        async def flood() -> None:
            while True:
                await flooder.send_all(frame(PING, b"x" * 100) * 100 + frame(TEXT, b"m"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_all, flooder)
            nursery.start_soon(flood)
            async with house.websocket() as other:
                for _ in range(20):
                    await other.send_message("hi")
                    with trio.fail_after(PATIENCE):
                        assert await other.get_message() == "hi"
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("flood", [frame(PONG), frame(CONTINUATION, final=False)], ids=["pongs", "empty fragments"])
async def test_others_have_their_turn_in_the_middle_of_what_one_read_brings(flood: bytes) -> None:
    async with open_house() as house, await house.connect() as stream, others_turns() as turns:
        await stream.send_all(house.upgrade() + frame(TEXT, b"", final=False) + flood * 3000)
        await stream.send_all(frame(CONTINUATION, b"at last"))
        await read_until(stream, b"at last")
        assert turns.taken > 3000


async def test_a_cancelled_send_ends_the_connection_rather_than_leave_half_a_frame() -> None:
    async with open_house() as house:
        async with await house.connect() as stream:
            await stream.send_all(house.upgrade("/deaf"))
            await house.events.entered.wait()
            (socket_,) = house.door._websockets._open
            async with trio.open_nursery() as sending:
                sending.start_soon(socket_.send, b"x" * 20_000_000)
                await wait_all_tasks_blocked(0.05)
                sending.cancel_scope.cancel()
            assert len(await read_all(stream)) < 20_000_000
        with pytest.raises(Exception, match="closed with 1006"):
            await socket_.send("more")


async def test_texts_that_are_sent_in_one_go_are_messages_of_their_own_and_none_follows_a_goodbye() -> None:
    async with open_house() as house, await house.connect() as stream:
        await stream.send_all(house.upgrade("/deaf"))
        await house.events.entered.wait()
        (socket_,) = house.door._websockets._open
        await socket_.send_all(["a", "", "€" * 100])
        await read_until(stream, b"\x81\x01a" + b"\x81\x00" + b"\x81\x7e\x01\x2c" + "€".encode() * 100)
        async with trio.open_nursery() as closing:
            closing.start_soon(socket_.close, 1000)
            await wait_all_tasks_blocked(0.05)
            with pytest.raises(Exception, match="closed with 1000"):
                await socket_.send_all(["late"])
            closing.cancel_scope.cancel()


async def test_what_a_conversation_logs_carries_its_own_id() -> None:
    ids: list[object] = []

    def note() -> None:
        ids.append(structlog.contextvars.get_contextvars()["conversation"])

    async def on_websocket(upgrade: Upgrade) -> None:
        socket = await upgrade.accept()
        while True:
            note()
            await socket.send(await socket.receive())

    new_id = iter(("one", "two")).__next__
    async with (
        open_house(on_websocket=on_websocket, new_id=new_id) as house,
        house.websocket() as first,
        house.websocket() as second,
    ):
        for client in (second, first):
            await client.send_message("x")
            assert await client.get_message() == "x"
    assert ids == ["one", "two", "two", "one"]
    assert "conversation" not in structlog.contextvars.get_contextvars()
