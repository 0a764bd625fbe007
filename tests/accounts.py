"""Lets tests act as other accounts of this machine, as far as their own account permits; root can do so fully.

A socket belongs to the account that its maker had at that moment, so a short change is enough. Without root, tests keep
their own account, and a pretended kernel with other answers (`Pretending`) replaces the real one where a test can
choose it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from transports.wire.sock_diag import End, SockDiag

NOBODY = 65534
CAN_BE_OTHERS = os.geteuid() == 0


class Pretending(SockDiag):
    """Says of every connection that it is nobody's."""

    def owner(self, near: End, far: End) -> int | None:
        return None if super().owner(near, far) is None else NOBODY


STRANGERS_KERNEL: type[SockDiag] = SockDiag if CAN_BE_OTHERS else Pretending
"""To which whoever comes `as_nobody` is nobody."""


@contextmanager
def as_nobody() -> Iterator[None]:
    if not CAN_BE_OTHERS:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def in_a_child_of_nobody(work: Callable[[], bytes]) -> bytes:
    """What it comes to in a process that is nobody's for good. Only for root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, work())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said
