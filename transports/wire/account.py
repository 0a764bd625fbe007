"""Lets in only the account that runs the server, and root.

Loopback keeps out other machines, but not other accounts of this one: a port at 127.0.0.1 is open to all of them, and a
client may run programs as we do. So right after the accept we ask the kernel which account owns the other end of a
connection (sock_diag.py).

    the other end is       it is
    ours, or root's        served; root could do as we do anyway
    another account's      refused: 403 and a sentence, to HTTP and WebSocket alike
    gone, without an owner refused: nobody is there to read an answer, and nobody knows who asked
    not determinable       refused with 503: the kernel could answer before, and will again

When the door opens, a question with a known answer (which account listens here) shows whether the kernel can answer at
all. If it cannot (on systems other than Linux, in a sandbox), the door lets everybody in, and the log says so. The
kernel tells the owner of the socket. Behind a proxy or a forwarded port, that is the proxy.
"""

import os
from collections.abc import Callable
from typing import Literal, Protocol

from transports.wire.refusal import Refusal
from transports.wire.sock_diag import CannotSay, End, SockDiag

Accounts = Literal["own", "any"]
ROOT = 0


class Kernel(Protocol):
    """Answers questions about sockets. Every call may raise OSError."""

    def owner(self, near: End, far: End) -> int | None: ...
    def listener(self, at: End) -> int | None: ...
    def close(self) -> None: ...


class Porter:
    """Checks the connections of one door. Call `close` at the end."""

    def __init__(self, at: End, ask: Callable[[], Kernel] = SockDiag) -> None:
        """For the door that listens `at` this address. Raises CannotSay."""
        self._ask = ask
        self._own = os.geteuid() if hasattr(os, "geteuid") else -1
        try:
            self._kernel = ask()
        except OSError as error:
            raise CannotSay(f"the kernel cannot be asked ({error.strerror or error})") from error
        try:
            listens = self._kernel.listener(at)
        except OSError as error:
            self._kernel.close()
            raise CannotSay(f"the kernel does not answer ({error.strerror or error})") from error
        if listens != self._own:
            self._kernel.close()
            raise CannotSay("the kernel does not even know who listens here")

    def refusal(self, client: End, server: End) -> Refusal | None:
        """The refusal of a connection that was just accepted; None if it may be served."""
        try:
            uid = self._owner(client, server)
        except OSError:
            return Refusal(503, "The server could not find out which account this connection belongs to. Try again.")
        if uid is None:
            return Refusal(403, "The other end of this connection has no owner any more, so it cannot be checked.")
        if uid in (self._own, ROOT):
            return None
        return Stranger(uid, self._own)

    def close(self) -> None:
        self._kernel.close()

    def _owner(self, client: End, server: End) -> int | None:
        try:
            return self._kernel.owner(client, server)
        except OSError:  # a full buffer, or a passing error of the kernel: once more, with a new socket
            kernel, self._kernel = self._kernel, self._ask()
            kernel.close()
            return self._kernel.owner(client, server)


class Stranger(Refusal):
    def __init__(self, uid: int, own: int) -> None:
        super().__init__(
            403,
            f"This server serves the account that runs it (uid {own}) and root, and you are uid {uid}. Start one of "
            'your own; or ask its owner to let all accounts in, with accounts = "any" in its settings.',
        )
        self.uid = uid
