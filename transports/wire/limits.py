"""All limits of a connection, in one place."""

from msgspec import Struct, field


class HttpLimits(Struct, frozen=True):
    body_bytes: int = 16 * 1024 * 1024
    """The largest body of a request; above it 413."""
    unread_bytes: int = 256 * 1024
    """Bytes of a body that wait for the application; beyond that, the client waits."""
    backlog_bytes: int = 256 * 1024 * 1024
    """Bytes of bodies over all connections, each kept until its answer. Above this the oldest is dropped with 503."""
    body_seconds: float = 15.0
    """In each interval of this length a client that owes a body must send `body_step` bytes, or the rest; else 408."""
    body_step: int = 8 * 1024
    idle_seconds: float = 60.0
    """A connection without a request is closed after this time, also if half a head has come."""


class WebSocketLimits(Struct, frozen=True):
    message_bytes: int = 1024 * 1024
    """The largest message; above it close code 1009."""
    fragments: int = 64 * 1024
    """Fragments of one message; above this 1008. So the largest message, 32 MiB, may come in pieces of 512 bytes."""
    ping_seconds: float = 20.0
    """The client is asked for a sign of life this often."""
    pong_seconds: float = 10.0
    """The client's time to answer that."""
    close_seconds: float = 2.0
    """The client's time to answer our close frame."""
    backlog_bytes: int = 256 * 1024 * 1024
    """Bytes of unfinished messages over all fast sockets. Above this the oldest is dropped."""
    outbox_bytes: int = 4 * 1024 * 1024
    """Bytes that may wait in the outbox of one fast socket. Above this all of it is discarded, and the peer starts
    over."""
    outboxes_bytes: int = 512 * 1024 * 1024
    """Bytes that may wait over all fast sockets. Above this the socket with the most loses its outbox."""


class DoorLimits(Struct, frozen=True):
    connections: int = 512
    strangers: int = 16
    """Connections of other accounts that are told of their refusal at the same time. Further ones are simply cut
    off."""
    head_bytes: int = 16 * 1024
    header_count: int = 100
    head_seconds: float = 10.0
    """From the accept to the end of the first head, TLS handshake included."""
    send_seconds: float = 30.0
    """A client that reads nothing in this time counts as gone; where nobody tells what it reads, one that does not take
    64 KiB."""
    linger_seconds: float = 1.0
    """How long we go on reading from a client after our last word, so that it can read that word."""
    linger_bytes: int = 1024 * 1024
    grace: float = 5.0
    """At the stop: requests in flight and close handshakes get this long."""
    http: HttpLimits = field(default_factory=HttpLimits)
    websocket: WebSocketLimits = field(default_factory=WebSocketLimits)
