"""A member's line to its owner, from inside: an order at a time, a stop hits the order that it was meant for and no
other, and the processor's clock runs while there is an order, and only then."""

import mmap
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.patience import PATIENCE
from transports.process import member
from transports.process.frames import DONE, FAILED, ORDER, PART, STOP, frame_of, next_frame
from transports.process.member import MemberLine, OrderStopped

SECONDS = 7.0


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE)
        theirs.settimeout(PATIENCE)
        yield ours, theirs


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the kernel was told to count to."""
    told: list[float] = []

    def setitimer(which: int, seconds: float) -> None:
        assert which == signal.ITIMER_PROF
        told.append(seconds)

    monkeypatch.setattr(signal, "setitimer", setitimer)
    return told


class Asked:
    """In the place of the line's poll: it notes how long it was to wait."""

    def __init__(self, line: MemberLine) -> None:
        self.poll_ = line._poll
        self.waits: list[int] = []

    def poll(self, milliseconds: int) -> list[tuple[int, int]]:
        self.waits.append(milliseconds)
        return self.poll_.poll(milliseconds)


def test_a_stop_ends_the_order_that_is_being_done_and_none_before_or_after(
    ends: tuple[socket.socket, socket.socket], clock: list[float]
) -> None:
    ours, theirs = ends
    line = MemberLine(theirs, SECONDS)
    ours.sendall(frame_of(STOP) + frame_of(ORDER, b"first"))  # it is late
    assert line.next_order() == b"first"
    line.lively()
    ours.sendall(frame_of(STOP)[:3])
    line.lively()
    ours.sendall(frame_of(STOP)[3:])
    for _ in range(2):  # it stays stopped
        with pytest.raises(OrderStopped):
            line.lively()
    ours.sendall(frame_of(ORDER, b"second"))
    assert line.next_order() == b"second"
    line.lively()


def test_what_is_lively_asks_and_does_not_wait(ends: tuple[socket.socket, socket.socket], clock: list[float]) -> None:
    ours, theirs = ends
    line = MemberLine(theirs)
    asked = line._poll = Asked(line)  # type: ignore[assignment]
    for _ in range(3):
        line.lively()
    assert asked.waits == [0, 0, 0]
    line.say(b"some")
    ours.close()  # an owner who has gone, and has not even read everything, wants nothing any more
    with pytest.raises(OrderStopped):
        line.lively()
    assert line.next_order() is None
    assert clock == []  # without a limit nothing is counted


def test_the_processors_clock_begins_anew_with_each_order_and_each_sign_of_life_and_ends_with_the_answer(
    ends: tuple[socket.socket, socket.socket], clock: list[float]
) -> None:
    ours, theirs = ends
    line = MemberLine(theirs, SECONDS)
    ours.sendall(frame_of(ORDER, b"x"))
    line.next_order()
    assert clock == [SECONDS]
    line.lively()
    line.say(b"some")
    assert clock == [SECONDS] * 2
    line.answer(DONE, b"all")
    assert clock == [SECONDS] * 2 + [0]
    held = bytearray(ours.recv(4096))
    assert [next_frame(held), next_frame(held), next_frame(held)] == [(PART, b"some"), (DONE, b"all"), None]


def _raises(error: BaseException) -> Any:
    def do(order: bytes, line: MemberLine) -> bytes:
        raise error

    return do


@pytest.mark.parametrize(
    ("do", "answer", "is_told"),
    [
        (lambda order, line: order * 2, (DONE, b"orderorder"), False),
        (_raises(OrderStopped()), (FAILED, b"it was stopped"), False),
        (_raises(MemoryError()), (FAILED, b"it needs more memory than it may have"), False),
        (_raises(ValueError("no \udc80 such thing")), (FAILED, b"ValueError: no ? such thing"), True),
        (_raises(ValueError("x" * 2000)), (FAILED, b"ValueError: " + b"x" * 988), True),
    ],
)
def test_whatever_comes_of_an_order_is_its_answer(
    monkeypatch: pytest.MonkeyPatch, do: Any, answer: tuple[bytes, bytes], is_told: bool
) -> None:
    told: list[object] = []
    monkeypatch.setattr("sys.excepthook", lambda *error: told.append(error))
    line = object.__new__(MemberLine)
    assert member._done(do, b"order", line) == answer
    assert bool(told) is is_told
    with pytest.raises(ConnectionError):  # the owner has gone: nobody is there to be answered
        member._done(_raises(ConnectionResetError()), b"order", line)


def test_what_a_member_uses_is_known_in_bytes() -> None:
    before = member._size()
    with mmap.mmap(-1, 32 << 20) as held:  # the interpreter may have so much at hand already
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
        assert 24 << 20 <= member._size() - before <= 64 << 20
