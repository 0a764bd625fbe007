"""Our end of a keeper: whoever has it closes it, once, and whoever does not only shuts it down."""

import socket
from collections.abc import Iterator

import pytest

from transports.process.keepers import KeeperEnd


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def is_over(theirs: socket.socket) -> bool:
    """Whether the keeper has been told."""
    try:
        return theirs.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.parametrize("fit", [True, False])
@pytest.mark.parametrize("interrupted", ["not", "while it is in use", "after that"])
def test_an_end_is_shut_down_by_whoever_interrupts_it_and_closed_by_who_has_it(
    ends: tuple[socket.socket, socket.socket], interrupted: str, fit: bool
) -> None:
    ours, theirs = ends
    keeper = KeeperEnd(ours)
    assert keeper.in_use
    if interrupted == "while it is in use":
        keeper.interrupt()
        assert is_over(theirs)
        assert ours.fileno() >= 0  # it is still waited for here
        assert not keeper.fit
    keeper.done(fit=fit)
    assert not keeper.in_use
    assert (ours.fileno() < 0) is (not fit or interrupted == "while it is in use")
    if interrupted == "after that":
        keeper.interrupt()
        assert ours.fileno() < 0
    assert is_over(theirs) is (not fit or interrupted != "not")


def test_an_end_can_be_lent_again_as_long_as_its_keeper_has_said_nothing(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    keeper = KeeperEnd(ours)
    keeper.done(fit=True)
    assert keeper.fit
    assert keeper.lend() is keeper
    assert keeper.in_use
    keeper.done(fit=True)
    theirs.send(b"x")
    assert not keeper.fit
    assert ours.recv(10) == b"x"  # it was only looked at
    assert keeper.fit
    theirs.close()
    assert not keeper.fit
    keeper.let_go()
    assert ours.fileno() < 0
    assert not keeper.fit
