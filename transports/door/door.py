"""The door: one port, two kinds of client.

A door listens on several hosts at one port. It reads the first head of every connection. Connections that ask for a
WebSocket go to trio-websocket and all others to Hypercorn; both read the same bytes again.

Rules
  - A fault on a connection (malformed input, a bug in a library, an exception in a handler) ends that connection and
    nothing else. It is logged and counted (`contained`) there.
  - The accept loop never ends while the door is open. If file descriptors run out, it waits a moment and tries again.
  - Connections never take the last file descriptors: some are kept for the rest of the process, which reads folders and
    starts programs. Clients beyond that are turned away.
  - `DoorLimits` bounds everything that a client can use. Above the limit on connections, clients are turned away before
    a byte of their requests is read.
  - Other accounts of this machine are refused (account.py) before their request is read, and do not use up the places
    of permitted clients.
  - It closes in order: it accepts no new connections, closes idle ones, closes WebSockets with 1001, and lets requests
    in flight finish within `grace`; then it cuts the sockets. If it is simply cancelled, it cuts the sockets at once:
    Hypercorn sends under a shield, and without a socket even that send ends.

A door opens once. It knows nothing of actors; `listener.py` has the actor that owns a door.
"""

import math
import resource
import secrets
import ssl
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import structlog
import trio
from msgspec import Struct

from actors.kernel import describe
from codec.words import lasting
from transports.http.guard import App, Guard, SecurityHeaders
from transports.http.hypercorn import Ends, Http
from transports.websocket.websocket import Handler, Upgrade, WebSockets, check_upgrade
from transports.wire.account import Accounts, Kernel, Porter, Stranger
from transports.wire.binding import Address, Bound, bind
from transports.wire.head import Head, HeadReader
from transports.wire.limits import DoorLimits
from transports.wire.lookout import Lookout, lookout
from transports.wire.policy import HostPolicy, HostRules
from transports.wire.refusal import IN_TEXT, Refusal, Wording
from transports.wire.sock_diag import CannotSay, SockDiag
from transports.wire.wire import GONE, Wire

LOOPBACK = ("127.0.0.1", "::1")
ACCEPT_PAUSE = 0.1
READ_BYTES = 16 * 1024
KEPT_FILES = 256
"""File descriptors that connections leave to the rest of the process; of a small number, a quarter."""
MOST_TOLD_OF = 64
"""Accounts that get a line in the log."""
IN_PLAIN = Refusal(400, "This port speaks HTTPS. Write https:// in place of http://.")


class DoorStatistics(Struct, frozen=True):
    addresses: tuple[Address, ...]
    unavailable: tuple[str, ...]
    """Hosts that this machine does not have."""
    open: int
    accepted: int
    turned_away: int
    """Connections above the limit, or for which there was no file descriptor to spare."""
    accept_errors: int
    strangers: int
    """Connections of other accounts of this machine, or without an owner."""
    http: int
    websockets: int
    refused: int
    """Connections whose first request was refused."""
    contained: int
    """Errors that ended only their own connection."""


class Door:
    def __init__(
        self,
        *,
        app: App,
        on_websocket: Handler | None = None,
        hosts: Sequence[str] = LOOPBACK,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        policy: HostPolicy | None = None,
        limits: DoorLimits | None = None,
        headers: SecurityHeaders | None = None,
        wording: Wording = IN_TEXT,
        accounts: Accounts = "own",
        kernel: Callable[[], Kernel] = SockDiag,
        new_id: Callable[[], str] | None = None,
        log: Any = None,
    ) -> None:
        """`accounts`: the accounts of this machine that may connect; `kernel`: tells the account of a connection;
        `wording`: of what is refused before the application sees it."""
        self._app = app
        self._hosts = tuple(hosts)
        self._port = port
        self._tls = tls
        if tls is not None:
            tls.set_alpn_protocols(["http/1.1"])
        self._policy = policy or HostPolicy()
        self._limits = limits or DoorLimits()
        self._headers = headers or SecurityHeaders()
        self._wording = wording
        self._accounts = accounts
        self._kernel = kernel
        self._porter: Porter | None = None
        """None: connections are accepted from every account."""
        self._new_id = new_id or partial(secrets.token_hex, 6)
        self._log = log or structlog.get_logger("door")
        self._rules: HostRules
        self._http: Http
        self._websockets = WebSockets(
            on_websocket or _no_websocket,
            self._limits.websocket,
            handshake_seconds=self._limits.head_seconds,
            wording=wording,
            contain=self.contain,
        )
        self._lookout: Lookout | None = None
        """Not None while the door is open, if this system has such a thing."""
        self._closing = trio.Event()
        self._closed = trio.Event()
        self._wires: set[Wire] = set()
        """The wires of all connections; never more than `limits.connections`."""
        self._waiting: set[Wire] = set()
        """The wires whose first head has not arrived yet."""
        self._strangers: set[Wire] = set()
        """The wires that are being refused for their account; at most `limits.strangers`, and none is in `_wires`."""
        self._told_of: set[int] = set()
        """Accounts that have a line in the log."""
        self._empty = trio.lowlevel.ParkingLot()
        self._addresses: tuple[Address, ...] = ()
        self._unavailable: tuple[str, ...] = ()
        self._accepted = self._turned_away = self._accept_errors = 0
        self._strange = self._as_http = self._as_websocket = self._refused = self._contained = 0
        self._most_files = math.inf
        """A connection with a descriptor as high as this would take one that is kept: the system gives the lowest that
        is free."""
        self._crowded = False
        self._starving = False
        """Whether the log already says that there is no room, in the door or in the process."""

    def statistics(self) -> DoorStatistics:
        return DoorStatistics(
            addresses=self._addresses,
            unavailable=self._unavailable,
            open=len(self._wires),
            accepted=self._accepted,
            turned_away=self._turned_away,
            accept_errors=self._accept_errors,
            strangers=self._strange,
            http=self._as_http,
            websockets=self._as_websocket,
            refused=self._refused,
            contained=self._contained,
        )

    def contain(self, what: str, error: BaseException) -> None:
        """Log and count an error that ends at its connection."""
        self._contained += 1
        self._log.error("contained", what=what, error=describe(error), exc_info=error)

    async def serve(self, *, task_status: trio.TaskStatus[tuple[Address, ...]] = trio.TASK_STATUS_IGNORED) -> None:
        """Listen (or raise `CannotListen`), report the addresses, and serve until `close` or a cancellation."""
        bound = await bind(self._hosts, self._port)
        try:
            self._open_at(bound)
            async with trio.open_nursery() as connections:
                connections.start_soon(self._cut_all_when_cancelled)
                if (watching := lookout()) is not None:
                    self._lookout = watching
                    connections.start_soon(watching.run)
                async with trio.open_nursery() as accepting:
                    for listener in bound.listeners:
                        accepting.start_soon(self._accept, listener, connections)
                    task_status.started(self._addresses)
                    await self._closing.wait()
                    accepting.cancel_scope.cancel()
                bound.close()
                with trio.move_on_after(self._limits.grace):
                    await self._wind_up()
                connections.cancel_scope.cancel()
        finally:
            bound.close()
            if self._porter is not None:
                self._porter.close()
            self._closed.set()

    async def close(self) -> None:
        """Close in order, and wait until that is done."""
        self._closing.set()
        await self._closed.wait()

    async def attend(self, wire: Wire, ends: Ends) -> None:
        """Serve one connection to its end. Raises nothing but a cancellation. What is logged meanwhile, also by actors
        that it leases, carries the same conversation id."""
        structlog.contextvars.bind_contextvars(conversation=self._new_id())  # the task is this connection's alone
        try:
            await self._serve(wire, ends)
            linger = 0.0 if self._closing.is_set() else self._limits.linger_seconds
            await wire.finish(seconds=linger, most=self._limits.linger_bytes)
        except* (*GONE, OSError):
            pass  # the client has left; a handler's exceptions do not come this far
        except* Exception as errors:
            self.contain("a connection", errors)
        finally:
            wire.cut()
            self._wires.discard(wire)
            if not self._wires:
                self._empty.unpark_all()

    def admit(self, stream: trio.abc.Stream, cut: Callable[[], object]) -> Wire:
        """Counts a new connection, which is to be attended. `cut` closes its socket without awaiting anything."""
        wire = Wire(stream, cut, send_seconds=self._limits.send_seconds, lookout=self._lookout)
        self._accepted += 1
        self._wires.add(wire)
        return wire

    def _open_at(self, bound: Bound) -> None:
        secure = self._tls is not None
        self._most_files = most_files()
        names = [listener.socket.getsockname()[0] for listener in bound.listeners]
        self._addresses = tuple(Address(name, bound.port, secure) for name in names)
        self._unavailable = bound.unavailable
        self._porter = self._hire((names[0], bound.port))
        self._rules = self._policy.at(bound.port, secure=secure, hosts=(*self._hosts, *names))
        guard = Guard(self._app, self._rules, self._limits.http, self._headers, self._wording, self.contain)
        self._http = Http(
            guard,
            self._limits.http,
            head_bytes=self._limits.head_bytes,
            secure=secure,
            contain=self.contain,
        )

    async def _accept(self, listener: trio.SocketListener, connections: trio.Nursery) -> None:
        while True:
            try:
                stream = await listener.accept()
            except OSError as error:  # out of file descriptors or memory; trio handles all other errors
                self._accept_errors += 1
                self._starve(str(error))
                await trio.sleep(ACCEPT_PAUSE)
                continue
            if stream.socket.fileno() >= self._most_files:
                self._turn_away(stream)
                self._starve("no descriptors to spare for connections")
                continue
            self._starving = False
            try:
                ends = (_address(stream.socket.getpeername()), _address(stream.socket.getsockname()))
            except OSError:
                stream.socket.close()  # it has already left
                continue
            refusal = None if self._porter is None else self._porter.refusal(*ends)
            if refusal is not None:
                self._send_away(stream, refusal, connections)
                continue
            if len(self._wires) >= self._limits.connections:
                self._turn_away(stream)
                if not self._crowded:
                    self._crowded = True
                    self._log.warning("too many connections", most=self._limits.connections)
                continue
            self._crowded = False
            connections.start_soon(self.attend, self.admit(self._secured(stream), stream.socket.close), ends)

    def _hire(self, at: tuple[str, int]) -> Porter | None:
        if self._accounts == "any":
            return None
        try:
            return Porter(at, self._kernel)
        except CannotSay as why:
            self._log.warning("every account of this machine can come in", port=at[1], because=str(why))
            return None

    def _send_away(self, stream: trio.SocketStream, refusal: Refusal, connections: trio.Nursery) -> None:
        self._strange += 1
        uid = refusal.uid if isinstance(refusal, Stranger) else None
        if uid is not None and uid not in self._told_of and len(self._told_of) < MOST_TOLD_OF:
            self._told_of.add(uid)
            self._log.warning("another account of this machine is not let in", uid=uid)
        if len(self._strangers) >= self._limits.strangers:
            stream.socket.close()
            return
        wire = Wire(self._secured(stream), stream.socket.close, send_seconds=self._limits.linger_seconds)
        self._strangers.add(wire)
        connections.start_soon(self._tell_stranger, wire, refusal)

    async def _tell_stranger(self, wire: Wire, refusal: Refusal) -> None:
        try:
            with trio.move_on_after(2 * self._limits.linger_seconds):
                await wire.send_all(refusal.response(self._wording))
                await wire.finish(seconds=self._limits.linger_seconds, most=self._limits.linger_bytes)
        except (*GONE, OSError):
            pass  # the client has left
        except Exception as error:
            self.contain("a stranger's connection", error)
        finally:
            wire.cut()
            self._strangers.discard(wire)

    def _turn_away(self, stream: trio.SocketStream) -> None:
        stream.socket.close()
        self._turned_away += 1

    def _starve(self, why: str) -> None:
        if not self._starving:
            self._starving = True
            self._log.warning("no more connections can be taken; some must end first", error=why)

    def _secured(self, stream: trio.SocketStream) -> trio.abc.Stream:
        if self._tls is None:
            return stream
        return trio.SSLStream(stream, self._tls, server_side=True, https_compatible=True)

    async def _serve(self, wire: Wire, ends: Ends) -> None:
        try:
            head = await self._head(wire)
            if head is not None and head.wants_websocket:
                self._rules.check(head.values("host"), head.values("origin"))
                check_upgrade(head)
        except Refusal as refusal:
            self._refused += 1
            await wire.send_all(refusal.response(self._wording))
            return
        except trio.BrokenResourceError as error:
            if not _is_plain_http(error):
                raise
            self._refused += 1
            await wire.say_in_plain(IN_PLAIN.response(self._wording))
            return
        if head is None:
            return
        if head.wants_websocket:
            self._as_websocket += 1
            host, port = ends[0]
            await self._websockets.serve(wire, head, Address(host, port).netloc)
        else:
            self._as_http += 1
            wire.replay(head.raw)
            await self._http.serve(wire, ends)

    async def _head(self, wire: Wire) -> Head | None:
        """The first head; None if the client left or never said a word."""
        reader = HeadReader(head_bytes=self._limits.head_bytes, header_count=self._limits.header_count)
        self._waiting.add(wire)
        try:
            with trio.move_on_after(self._limits.head_seconds):
                while data := await wire.receive_some(READ_BYTES):
                    if head := reader.feed(data):
                        wire.replay(reader.rest(head))
                        return head
                return None
        finally:
            self._waiting.discard(wire)
        if reader.empty:
            return None
        raise Refusal(408, f"The head of the request was not there after {lasting(self._limits.head_seconds)}.")

    async def _wind_up(self) -> None:
        for wire in tuple(self._waiting):
            wire.cut()
        await self._http.wind_up()
        await self._websockets.wind_up()
        if self._wires:
            await self._empty.park()

    async def _cut_all_when_cancelled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            for wire in tuple(self._wires):
                wire.cut()


def most_files() -> float:
    """The lowest number of a file descriptor that no connection may have."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if limit == resource.RLIM_INFINITY else limit - min(KEPT_FILES, limit // 4)


async def _no_websocket(upgrade: Upgrade) -> None:
    await upgrade.reject(404, "There is no WebSocket at this port.")


def _is_plain_http(error: trio.BrokenResourceError) -> bool:
    """Whether the handshake has failed because a client spoke HTTP to a port with TLS, as OpenSSL finds out."""
    return isinstance(error.__cause__, ssl.SSLError) and error.__cause__.reason == "HTTP_REQUEST"


def _address(name: tuple[str, int] | tuple[str, int, int, int]) -> tuple[str, int]:
    return name[0], name[1]
