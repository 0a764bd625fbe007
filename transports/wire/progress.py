"""How much of what we have sent the client has read, as far as the system tells.

A client that reads slowly answers a ping late, for the ping lies behind all that is on its way: megabytes in our
kernel's buffer, and more in the client's. So a late answer alone does not show that the client is dead. It is dead if
it has read nothing meanwhile.

    the client is       what is told                                                          by
    on this machine     all bytes that it has read                                            TCP_INFO, sock_diag
    on another one      all bytes that have arrived at its system, read or not                TCP_INFO
    behind a stream that is no socket, or where the system is not Linux: nothing              -

Only differences mean something. The two questions are not one: bytes that arrive between them count as unread at first.
So the figure may be a little too low, and never too high.
"""

import socket
import struct
import sys

import trio

from transports.wire.sock_diag import SockDiag

TCP_INFO = 11
_ACKNOWLEDGED = struct.Struct("=Q")
_ACKNOWLEDGED_AT = 120
"""Of struct tcp_info since Linux 4.1: all bytes that the other system has acknowledged."""


def read_by_client(stream: trio.abc.Stream) -> int | None:
    """None: the system does not tell."""
    if isinstance(stream, trio.SSLStream):
        stream = stream.transport_stream
    if not isinstance(stream, trio.SocketStream) or sys.platform != "linux":
        return None
    end = stream.socket
    try:
        size = _ACKNOWLEDGED_AT + _ACKNOWLEDGED.size
        facts = end.getsockopt(socket.IPPROTO_TCP, TCP_INFO, size)
        arrived: int = _ACKNOWLEDGED.unpack_from(facts, _ACKNOWLEDGED_AT)[0]
        return arrived - _unread(end.getpeername()[:2], end.getsockname()[:2])
    except (OSError, struct.error):  # it is closed, or no TCP; an old kernel tells less
        return None


def _unread(client: tuple[str, int], server: tuple[str, int]) -> int:
    """Bytes that wait in the client's socket. 0: the client is not on this machine, or the kernel does not tell."""
    try:
        kernel = SockDiag()
    except OSError:
        return 0
    try:
        return kernel.unread(client, server) or 0
    except OSError:
        return 0
    finally:
        kernel.close()
