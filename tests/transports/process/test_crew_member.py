"""Our end of a member, which may be given an order or not: it says READY once, and nothing else unasked."""

import os
import socket
from collections.abc import Iterator

import pytest

from transports.process.crew import CrewMember
from transports.process.frames import DONE, PART, READY, frame_of


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize(
    ("said", "fit", "ready"),
    [
        (b"", True, False),  # it is just starting
        (frame_of(READY), True, True),
        (frame_of(READY)[:3], False, False),
        (frame_of(READY) + b"\0", False, True),
        (frame_of(READY, b"x"), False, False),
        (frame_of(READY) * 2, False, True),
        (frame_of(DONE), False, False),
        (frame_of(PART), False, False),
        (b"\xff" * 9, False, False),  # no frame
    ],
)
def test_a_member_is_fit_that_has_said_nothing_but_that_it_is_ready(
    ends: tuple[socket.socket, socket.socket], said: bytes, fit: bool, ready: bool
) -> None:
    ours, theirs = ends
    member = CrewMember(None, ours, os.open(os.devnull, os.O_RDONLY))  # type: ignore[arg-type]
    try:
        theirs.sendall(said)
        assert member.fit is fit
        assert member.ready is ready
    finally:
        os.close(member._life)


def test_a_member_that_is_at_work_or_has_gone_is_not_fit(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    member = CrewMember(None, ours, os.open(os.devnull, os.O_RDONLY))  # type: ignore[arg-type]
    try:
        assert (member.fit, member.at_work, member.borrowed, member.fell, member.alive) == (
            True, False, False, False, True,
        )  # fmt: skip
        member.at_work = True
        assert not member.fit
        member.at_work = False
        assert member.fit
        ours.send(b"never read")  # so that its end is a reset
        theirs.close()
        assert not member.fit
    finally:
        os.close(member._life)
