"""Who of this machine may come in: the account that runs the server, and root.

Loopback keeps other machines out, not other accounts of this one: a port at 127.0.0.1 is open to all of them, and who
comes in here may run programs as we do. So the kernel is asked, right after the accept, whose the other end of a
connection is (sock_diag.py).

    the other end is       it is
    ours, or root's        served; root could do as we do anyway
    somebody else's        refused: 403 and a sentence, to HTTP and WebSocket alike
    gone, without an owner refused: nobody is there to read an answer, and nobody knows who asked
    not to be found out    refused with 503: the kernel could say just now, and will again

Whether the kernel can say at all is found out when the door opens, by a question with a known answer: who listens
here. Where it cannot (another system than Linux, a sandbox) the door lets everybody in, and says so in the log.
What the kernel says is whose socket it is: behind a proxy or a forwarded port, the proxy's.
"""

import os
from collections.abc import Callable
from typing import Literal, Protocol

from transports.wire.refusal import Refusal
from transports.wire.sock_diag import CannotSay, End, SockDiag

Accounts = Literal["own", "any"]
ROOT = 0


class Kernel(Protocol):
    """Who can be asked. Every call may raise OSError."""

    def owner(self, near: End, far: End) -> int | None: ...
    def listener(self, at: End) -> int | None: ...
    def close(self) -> None: ...


class Porter:
    """Asks at one door. `close` it."""

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
        """Why a connection that was just accepted is not to be served."""
        try:
            uid = self._owner(client, server)
        except OSError:
            return Refusal(503, "It could not be found out whose connection this is. Try again.")
        if uid is None:
            return Refusal(403, "Nobody holds the other end of this connection any more: nobody knows who asks.")
        if uid in (self._own, ROOT):
            return None
        return Stranger(uid, self._own)

    def close(self) -> None:
        self._kernel.close()

    def _owner(self, client: End, server: End) -> int | None:
        try:
            return self._kernel.owner(client, server)
        except OSError:  # its buffer has run over, or a kernel's bad moment: once more, with a new socket
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
