"""What is told of how far a client has read: it moves by exactly what the client reads, and by nothing else."""

import sys
from contextlib import ExitStack, suppress

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from tests.patience import PATIENCE
from tests.plenty import plenty
from tests.transports.wire.test_account import FORMS, Pair, as_ourselves
from transports.wire import progress
from transports.wire.progress import read_by_client
from transports.wire.sock_diag import SockDiag
from transports.wire.wire import GONE, Wire

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


async def comes_to(stream: trio.SocketStream, figure: int) -> None:
    """Waits until that is told, which takes as long as the client's system takes to acknowledge. More is never told."""
    with trio.fail_after(PATIENCE):
        while (told := read_by_client(stream)) != figure:
            assert told is not None
            assert told < figure
            await trio.lowlevel.checkpoint()


@given(
    st.sampled_from(FORMS),
    st.lists(st.tuples(st.sampled_from([0, 1, 1_000, 1 << 20]), st.sampled_from([0, 1, 999, 300_000])), max_size=6),
)
@settings(max_examples=plenty(20), deadline=None)
def test_it_moves_by_what_the_client_reads_and_not_by_what_is_sent_or_arrives(
    form: tuple[int, str, int, str], steps: list[tuple[int, int]]
) -> None:
    async def main() -> None:
        with ExitStack() as stack:
            pair = Pair(stack, form, as_ourselves)
            pair.client.setblocking(False)
            stream = trio.SocketStream(trio.socket.from_stdlib_socket(pair.server))
            wire = Wire(stream, stream.socket.close, send_seconds=30)
            read = 0
            for size, most in steps:
                wire.write_now(b"x" * size)
                await comes_to(stream, read)
                with suppress(BlockingIOError):
                    read += len(pair.client.recv(most))
                await comes_to(stream, read)
            wire.cut()
            assert wire.taken is None

    trio.run(main)


async def test_of_a_client_elsewhere_what_has_arrived_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SockDiag, "unread", lambda kernel, near, far: None)
    with ExitStack() as stack:
        pair = Pair(stack, FORMS[0], as_ourselves)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(pair.server))
        await stream.send_all(b"x" * 1_000)
        await comes_to(stream, 1_000)
        await stream.aclose()


@pytest.mark.parametrize("failing", ["there is no such socket", "there is no answer"])
async def test_a_kernel_that_cannot_be_asked_is_no_error(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*_: object) -> SockDiag:
        raise OSError(1, "not permitted")

    if failing == "there is no answer":
        monkeypatch.setattr(SockDiag, "unread", fail)
    else:
        monkeypatch.setattr(progress, "SockDiag", fail)
    with ExitStack() as stack:
        pair = Pair(stack, FORMS[0], as_ourselves)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(pair.server))
        assert read_by_client(stream) is not None
        await stream.aclose()
        assert read_by_client(stream) is None


async def test_of_a_stream_that_is_no_tcp_socket_nothing_is_told() -> None:
    one, other = trio.socket.socketpair()
    stream = trio.SocketStream(one)
    assert read_by_client(stream) is None
    assert read_by_client(memory_stream_pair()[0]) is None
    other.close()
    with pytest.raises(GONE):
        await stream.send_all(b"x")
    await stream.aclose()


async def test_a_send_goes_on_as_long_as_the_client_reads_however_little_and_no_longer(mock_clock: MockClock) -> None:
    with ExitStack() as stack:
        pair = Pair(stack, FORMS[0], as_ourselves)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(pair.server))
        wire, read, failed = Wire(stream, stream.socket.close, send_seconds=30), 0, trio.Event()

        async def send() -> None:
            with pytest.raises(trio.BrokenResourceError):
                await wire.send_all(bytes(64 << 20))
            failed.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            await wait_all_tasks_blocked()
            for _ in range(10):
                read += len(pair.client.recv(100))
                mock_clock.jump(30)
                await wait_all_tasks_blocked()
                assert not failed.is_set()
            await comes_to(stream, read)
            for _ in range(2):  # what was being acknowledged when the first one began may have counted as read
                mock_clock.jump(30)
                await wait_all_tasks_blocked()
            assert failed.is_set()
        assert wire.fault == "it read nothing for 30 seconds"
