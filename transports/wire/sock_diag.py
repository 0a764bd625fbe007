"""Asks Linux about a TCP socket, by the exact pair of its addresses: who owns it, and how much lies unread in it.

It takes one message to a NETLINK_SOCK_DIAG socket and one back, which the kernel has ready when the send returns. So no
table is searched, no privilege is needed, and nothing waits.

Rules
  - The answer must contain the pair that was asked for. If no such connection exists, the kernel answers with the
    socket that listens at the near address.
  - A uid of 0 is believed only if the socket still has an owner, which shows in its inode. For a socket that has been
    closed and is on its way out, is in TIME_WAIT, or has not been accepted yet, most kernels report 0 for lack of
    anything else.
  - An IPv4 connection may belong to an IPv6 socket. The kernel then reports the addresses in their mapped form.
"""

import os
import socket
import struct
from typing import NamedTuple

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
NLMSG_ERROR = 2

LOOPBACK_DEVICE = 1
"""Its number in every network namespace. A socket that is bound to it is found only with this number."""
ANY_COOKIE = 0xFFFFFFFF
ANY_STATE = 0xFFFFFFFF

ESTABLISHED, FIN_WAIT_1, FIN_WAIT_2, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING = 1, 4, 5, 8, 9, 10, 11
CONNECTED = frozenset({ESTABLISHED, FIN_WAIT_1, FIN_WAIT_2, CLOSE_WAIT, LAST_ACK, CLOSING})

ANSWER_BYTES = 4096
MOST_ANSWERS = 16
"""Answers that are read for one question: a late answer to an earlier question may come first."""

_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence number, port
_REQUEST = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
_ASIDE = struct.Struct("=III")  # the device, a cookie in two halves
_STATE = struct.Struct("=BBBB")  # family, state, timer, retransmissions
_REST = struct.Struct("=IIIII")  # expires, queues in and out, uid, inode
_NUMBER = struct.Struct("=i")
_MAPPED = bytes(10) + b"\xff\xff"

End = tuple[str, int]
"""A numeric address and a port."""


class SocketEntry(NamedTuple):
    state: int
    uid: int
    inode: int
    pair: tuple[bytes, int, bytes, int]
    unread: int = 0
    """Bytes that have come and were not read."""


class CannotSay(Exception):
    """This system does not tell the owner of a connection. The text says why."""


class SockDiag:
    """One socket. Every call may raise OSError; then the socket is of no more use."""

    def __init__(self) -> None:
        if not hasattr(socket, "AF_NETLINK"):
            raise CannotSay("only Linux tells whose a connection is")
        kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
        self._socket = socket.socket(socket.AF_NETLINK, kind, NETLINK_SOCK_DIAG)
        self._sequence = 0

    def close(self) -> None:
        self._socket.close()

    def owner(self, near: End, far: End) -> int | None:
        """The uid of the owner of the connection's end at `near`; None if that end, or its owner, no longer exists."""
        found = self._connection(near, far)
        if found is None:
            return None
        return found.uid if found.uid or found.inode else None

    def is_held(self, near: End, far: End) -> bool:
        """Whether a process of this machine still holds the connection's end at `near`."""
        found = self._connection(near, far)
        return found is not None and found.inode != 0

    def unread(self, near: End, far: End) -> int | None:
        """How many bytes lie unread in the connection's end at `near`; None if that end is not on this machine."""
        found = self._connection(near, far)
        return None if found is None else found.unread

    def listener(self, at: End) -> int | None:
        """The uid of the listener there. If it is known, this kernel can answer such questions."""
        found = self._look(at, (at[0], 0))
        return found.uid if found is not None and found.state == LISTEN and found.inode else None

    def _connection(self, near: End, far: End) -> SocketEntry | None:
        found = self._look(near, far)
        return None if found is None or found.state not in CONNECTED or found.pair != _pair(near, far) else found

    def _look(self, near: End, far: End) -> SocketEntry | None:
        self._sequence = (self._sequence + 1) & 0xFFFFFFFF
        self._socket.sendto(question(self._sequence, near, far), (0, 0))
        for _ in range(MOST_ANSWERS):
            data, (sender, _groups) = self._socket.recvfrom(ANSWER_BYTES)
            if sender == 0 and _HEADER.unpack_from(data)[3] == self._sequence:
                return answer(data)
        raise OSError("the kernel has not answered")


def question(sequence: int, near: End, far: End) -> bytes:
    family, one, port = _numeric(near)
    _, other, other_port = _numeric(far)
    body = b"".join(
        (
            _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, ANY_STATE),
            _PORTS.pack(port, other_port),
            one.ljust(16, b"\0"),
            other.ljust(16, b"\0"),
            _ASIDE.pack(LOOPBACK_DEVICE, ANY_COOKIE, ANY_COOKIE),
        )
    )
    return _HEADER.pack(_HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, sequence, 0) + body


def answer(data: bytes) -> SocketEntry | None:
    """The answer; None if the kernel knows no such socket. Raises OSError for its other errors."""
    kind = _HEADER.unpack_from(data)[1]
    at = _HEADER.size
    if kind == NLMSG_ERROR:
        number = -_NUMBER.unpack_from(data, at)[0]
        if number == 2:  # ENOENT; a kernel without this feature answers the same
            return None
        raise OSError(number, os.strerror(number))
    _family, state, _, _ = _STATE.unpack_from(data, at)
    near, far = _PORTS.unpack_from(data, at + 4)
    one, other = data[at + 8 : at + 24], data[at + 24 : at + 40]
    _expires, unread, _unsent, uid, inode = _REST.unpack_from(data, at + 40 + _ASIDE.size)
    return SocketEntry(state, uid, inode, (_bare(one, _family), near, _bare(other, _family), far), unread)


def _pair(near: End, far: End) -> tuple[bytes, int, bytes, int]:
    family, one, port = _numeric(near)
    _, other, other_port = _numeric(far)
    return _bare(one, family), port, _bare(other, family), other_port


def _numeric(end: End) -> tuple[int, bytes, int]:
    host, port = end
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, socket.inet_pton(family, host.partition("%")[0]), port


def _bare(address: bytes, family: int) -> bytes:
    """The address in bytes; an IPv4 address always as four."""
    if family == socket.AF_INET:
        return address[:4]
    return address[12:] if address.startswith(_MAPPED) else address
