"""Tells systemd the state of the server: sd_notify(3), a datagram to the socket that the environment names.

Nothing here can harm the server. Without NOTIFY_SOCKET every call does nothing, and a datagram that cannot be sent at
once is dropped. The loop itself sends the watchdog's ping, so that a loop that hangs stops pinging and systemd notices.
"""

import math
import os
import socket
from collections.abc import Mapping
from contextlib import suppress

import trio


class Notifier:
    def __init__(self, environ: Mapping[str, str] = os.environ, pid: int | None = None) -> None:
        self._address = _address(environ.get("NOTIFY_SOCKET", ""))
        self._interval = _interval(environ, os.getpid() if pid is None else pid)

    def ready(self) -> None:
        """Everything that can be up is up."""
        self._send(f"READY=1\nMAINPID={os.getpid()}")

    def status(self, sentence: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={' '.join(sentence.split())}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    async def watchdog(self) -> None:
        """Pings twice as often as requested, until cancelled. Returns at once if nothing is requested."""
        if self._address is None or self._interval is None:
            return
        while True:
            self._send("WATCHDOG=1")
            await trio.sleep(self._interval / 2)

    def _send(self, state: str) -> None:
        if self._address is None:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(state.encode(), self._address)


def _address(name: str) -> str | None:
    if not hasattr(socket, "AF_UNIX") or name[:1] not in ("/", "@") or len(name) < 2:
        return None
    return f"\0{name[1:]}" if name[0] == "@" else name


def _interval(environ: Mapping[str, str], pid: int) -> float | None:
    """Seconds within which the watchdog expects a ping."""
    if environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None  # the request is for our parent
    try:
        interval = int(environ["WATCHDOG_USEC"]) / 1e6
    except (KeyError, ValueError):
        return None
    return interval if interval > 0 and math.isfinite(interval) else None
