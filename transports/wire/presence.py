"""Whether a client that sends no more is still there, as far as the system tells.

The end of what a client sends says nothing about whether it still reads. A client that has closed its socket, or has
ended, sends the same FIN as one that has only shut down its sending side (`nc -N`) and waits for the answer. But of a
client on this machine, the kernel knows the socket:

    the client                       its socket has an owner   it counts as
    has shut down its sending side   yes                       there
    has closed it, or has ended      no                        gone
    has reset the connection         there is none             gone
    is on another machine            there is none here        gone
    is behind no socket; not Linux   nobody can tell           gone
    speaks TLS                       is not asked              gone

It is asked again and again, because a client may leave after that; and the kernel sends the FIN a moment before it
takes the owner away. Over TLS nothing can be said to a client whose stream ended without TLS's own word for it, and
that word means in TLS 1.2 that no answer is awaited.
"""

import sys

import trio

from transports.wire.sock_diag import SockDiag

FIRST_SECONDS, LONGEST_SECONDS = 0.01, 0.25
"""Between two questions: they are twice as far apart each time."""


async def until_gone(stream: trio.abc.Stream) -> None:
    seconds = FIRST_SECONDS
    while is_there(stream):
        await trio.sleep(seconds)
        seconds = min(2 * seconds, LONGEST_SECONDS)


def is_there(stream: trio.abc.Stream) -> bool:
    if not isinstance(stream, trio.SocketStream) or sys.platform != "linux":
        return False
    try:
        client, server = stream.socket.getpeername()[:2], stream.socket.getsockname()[:2]
        kernel = SockDiag()
    except OSError:  # it is closed, or there is no room for one more socket
        return False
    try:
        return kernel.is_held(client, server)
    except (OSError, ValueError):
        return False
    finally:
        kernel.close()
