"""Listening sockets on several hosts and one port.

For `localhost` a browser tries ::1 and 127.0.0.1 in an order of its own, so a local server listens on both, at the same
port. A machine without IPv6 is not an error: that host is left out and reported. After any other failure nothing stays
open.
"""

import errno
import socket
from collections.abc import Sequence

import trio
from msgspec import Struct

BACKLOG = 128
ATTEMPTS_AT_A_FREE_PORT = 20

_NO_SUCH_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}


class CannotListen(Exception):
    """The text is a sentence for the user. A caller that knows the setting may add where to change it."""


class PortInUse(CannotListen):
    pass


class Address(Struct, frozen=True):
    host: str
    port: int
    secure: bool = False

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.netloc}"


class Bound(Struct, frozen=True):
    listeners: tuple[trio.SocketListener, ...]
    port: int
    unavailable: tuple[str, ...]
    """Hosts that this machine does not have."""

    def close(self) -> None:
        for listener in self.listeners:
            listener.socket.close()


async def bind(hosts: Sequence[str], port: int) -> Bound:
    """Listen on every host at this port; port 0 is one free port for all of them."""
    for attempt in range(ATTEMPTS_AT_A_FREE_PORT):
        try:
            return await _bind_at(hosts, port)
        except PortInUse:
            if port or attempt == ATTEMPTS_AT_A_FREE_PORT - 1:
                raise  # with port 0 the port was free on the first host and taken on another: draw again
    raise AssertionError("unreachable")


async def _bind_at(hosts: Sequence[str], port: int) -> Bound:
    listeners: list[trio.SocketListener] = []
    unavailable: list[str] = []
    try:
        for host in hosts:
            for family, address in await _resolve(host):
                try:
                    listener = await _listen(family, address, port)
                except OSError as error:
                    if error.errno not in _NO_SUCH_ADDRESS:
                        raise _explained(error, host, port) from error
                    unavailable.append(host)
                else:
                    listeners.append(listener)
                    port = listener.socket.getsockname()[1]
        if not listeners:
            raise CannotListen(f"this machine has no address {' or '.join(hosts)}; choose another host")
    except BaseException:
        Bound(tuple(listeners), port, ()).close()
        raise
    return Bound(tuple(listeners), port, tuple(dict.fromkeys(unavailable)))


async def _resolve(host: str) -> list[tuple[int, str]]:
    try:
        found = await trio.socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        sentence = f"the host {host!r} is not known to this machine; use an address such as 127.0.0.1"
        raise CannotListen(sentence) from error
    return [(family, str(address[0])) for family, _, _, _, address in found]


async def _listen(family: int, address: str, port: int) -> trio.SocketListener:
    sock = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        await sock.bind((address, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return trio.SocketListener(sock)


def _explained(error: OSError, host: str, port: int) -> CannotListen:
    match error.errno:
        case errno.EADDRINUSE:
            return PortInUse(f"port {port} on {host} is in use by another program; stop it or choose another port")
        case errno.EACCES:
            return CannotListen(f"port {port} on {host} is reserved by the system; choose a port above 1023")
        case _:
            return CannotListen(f"cannot listen on {host} port {port}: {error.strerror or error}")
