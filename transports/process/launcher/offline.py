"""Starts a program in a network of its own, in which there is nothing but a loopback.

A network of one's own needs a user namespace, for which no privilege is needed where the kernel allows it. In it our
account is itself, and no other exists. So the program reads and writes what it could, and its files belong to us; but
it cannot give files to others, and not become anybody else (`sudo`, `su`). Root is root over its own namespaces only.

What it still reaches: sockets that are files, and whoever listens there (an agent of keys, a daemon of containers).
Abstract sockets are part of the network, and out of reach.
"""

import fcntl
import os
import signal
import socket
import struct
from contextlib import suppress

from transports.process.launcher.orders import NETWORK, PROGRAM
from transports.process.launcher.system import DEAF_TO, IGNORED_BY_PYTHON, be_private, gain_nothing, leave_network

_SET_FLAGS, _UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP
_NOT_STARTED = 127


class NotForked(OSError):
    def __init__(self, stage: str, number: int) -> None:
        super().__init__(number, os.strerror(number))
        self.stage = stage


def fork(candidates: list[bytes], argv: list[bytes], env: dict[bytes, bytes], given: list[int]) -> int:
    """Starts the first of the candidates that can be run, in a session of its own; `given` become its first
    descriptors. Raises NotForked."""
    hears, tells = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(hears)
        os.close(tells)
        raise NotForked(PROGRAM, error.errno or 0) from error
    if not pid:
        _become(candidates, argv, env, given, tells)
    os.close(tells)
    with open(hears, "rb") as told:
        failure = told.read()  # its end comes with the exec
    if failure:
        os.waitpid(pid, 0)
        stage, number = failure.split()
        raise NotForked(stage.decode(), int(number))
    return pid


def _become(candidates: list[bytes], argv: list[bytes], env: dict[bytes, bytes], given: list[int], tells: int) -> None:
    """In the child: never returns."""
    stage = PROGRAM
    try:
        os.setsid()
        for number, stream in enumerate(given):
            os.dup2(stream, number)
        stage = NETWORK
        be_private(False)  # or its own folder in /proc would not be its own
        leave_network()
        _open_loopback()
        gain_nothing()
        stage = PROGRAM
        for number in (*DEAF_TO, *IGNORED_BY_PYTHON):
            signal.signal(number, signal.SIG_DFL)
        refusal: OSError | None = None
        for candidate in candidates:
            try:
                os.execve(candidate, argv, env)  # noqa: S606  it is what we are for
            except (FileNotFoundError, NotADirectoryError) as error:
                refusal = refusal or error
            except OSError as error:  # it exists and cannot be run; another one on the path may
                refusal = error
        assert refusal is not None
        raise refusal
    except OSError as error:
        os.write(tells, b"%s %d" % (stage.encode(), error.errno or 0))
    finally:
        os._exit(_NOT_STARTED)


def _open_loopback() -> None:
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
