"""How much a stranger may take: every number that bounds a connection, in one place."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HttpLimits:
    body_bytes: int = 16 * 1024 * 1024
    """The largest body of a request; above it 413."""
    unread_bytes: int = 256 * 1024
    """So much of a body waits for the application; then the client waits."""
    backlog_bytes: int = 256 * 1024 * 1024
    """So much of bodies is kept over all connections, each until it has been answered; above it the oldest gives way
    with 503."""
    body_seconds: float = 15.0
    """In every stretch this long a client that owes us a body sends `body_step` bytes of it, or the rest; else 408."""
    body_step: int = 8 * 1024
    idle_seconds: float = 60.0
    """A connection without a request is closed after this time, also if half a head has come."""


@dataclass(frozen=True, slots=True)
class WebSocketLimits:
    message_bytes: int = 1024 * 1024
    """The largest message; above it close code 1009."""
    fragments: int = 64 * 1024
    """A message may come in so many; above it 1008. The largest of all, 32 MiB, may be cut into half kilobytes."""
    ping_seconds: float = 20.0
    """The client is asked for a sign of life this often."""
    pong_seconds: float = 10.0
    """And has this long to give it."""
    close_seconds: float = 2.0
    """The client's time to answer our close frame."""
    backlog_bytes: int = 256 * 1024 * 1024
    """So much of messages that have not come whole is kept over all fast sockets; above it the oldest gives way."""
    outbox_bytes: int = 4 * 1024 * 1024
    """So much may wait in the outbox of a fast socket; above it all is thrown away, to begin anew."""
    outboxes_bytes: int = 512 * 1024 * 1024
    """So much may wait over all fast sockets; above it the one for which most is waiting gives way."""


@dataclass(frozen=True, slots=True)
class DoorLimits:
    connections: int = 512
    strangers: int = 16
    """Of other accounts, who are told so at the same time; above it they are cut off without a word."""
    head_bytes: int = 16 * 1024
    header_count: int = 100
    head_seconds: float = 10.0
    """From the accept to the end of the first head, TLS handshake included."""
    send_seconds: float = 30.0
    """A client that takes none of 64 KiB in this time has gone."""
    linger_seconds: float = 1.0
    """How long we go on reading from a client after our last word, so that it can read that word."""
    linger_bytes: int = 1024 * 1024
    grace: float = 5.0
    """At the stop: requests in flight and close handshakes get this long."""
    http: HttpLimits = field(default_factory=HttpLimits)
    websocket: WebSocketLimits = field(default_factory=WebSocketLimits)
