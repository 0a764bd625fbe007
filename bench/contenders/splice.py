"""No relay at all: it answers the upgrades, and hands on the bytes of each connection to all others as they are.

As good as a single thread can do with these sockets, whatever it is written in: nearly all its time is in the kernel.
"""

import select
import socket
import sys
from contextlib import suppress

from bench.contenders.client import ACCEPTED, HEAD_END

READ_BYTES = 64 * 1024


def main(port: int) -> None:
    poll = select.epoll()
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    poll.register(listener.fileno(), select.EPOLLIN)
    open_: dict[int, socket.socket] = {}
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                new = _shaken_hands(listener.accept()[0])
                open_[new.fileno()] = new
                poll.register(new.fileno(), select.EPOLLIN)
            elif data := _read(open_[number]):
                for other in open_:
                    if other != number:
                        _send(open_[other], data)
            else:
                poll.unregister(number)
                open_.pop(number).close()


def _shaken_hands(client: socket.socket) -> socket.socket:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    head = b""
    while HEAD_END not in head and (data := client.recv(READ_BYTES)):
        head += data
    _send(client, ACCEPTED)
    return client


def _send(client: socket.socket, data: bytes) -> None:
    with suppress(ConnectionError):  # it is leaving
        client.sendall(data)


def _read(client: socket.socket) -> bytes:
    try:
        return client.recv(READ_BYTES)
    except ConnectionResetError:
        return b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
