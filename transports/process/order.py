"""Turns a command into an order for the keeper, and explains to the user what is wrong with a command."""

import errno
import os
from functools import lru_cache

from actors.kernel import KernelError
from transports.process.command import Command
from transports.process.launcher import orders
from transports.process.launcher.orders import Order


class NotStarted(KernelError):
    """The program could not be started. The text tells the user why."""


class NotKeptOffline(NotStarted):
    """The system refuses the program a network of its own, with nothing in it."""


def order_of(command: Command) -> bytes:
    """The order as it is sent to the keeper. Raises NotStarted."""
    bounds = command.bounds
    if not command.argv or not command.argv[0]:
        raise NotStarted("no program is named: the command is empty")
    try:
        frame = Order(
            argv=[_bytes(argument) for argument in command.argv],
            env=_environment(tuple(command.env.items())),
            cwd=_bytes(os.path.abspath(command.cwd)) if command.folder is None else b"",
            stdin=_input(command),
            cpu_seconds=bounds.cpu_seconds,
            memory_bytes=bounds.memory_bytes,
            processes=bounds.processes,
            file_bytes=bounds.file_bytes,
            wall_seconds=bounds.wall_seconds,
            offline=command.offline,
            may_hide=bounds.may_hide,
            ahead=command.ahead,
        ).frame()
    except _CannotBeGiven as error:
        raise refused(command, str(error)) from None
    if len(frame) > orders.MOST_BYTES:
        words = f"its arguments and environment have {len(frame)} bytes, and may have {orders.MOST_BYTES}"
        raise refused(command, f"{words}; put what is large in a file")
    return frame


def _input(command: Command) -> bytes:
    """The path of the input file; empty if the input comes through a pipe."""
    match command.stdin:
        case b"":
            return os.fsencode(os.devnull)
        case bytes() | tuple():
            return b""
        case path:
            return _bytes(os.path.abspath(path))


@lru_cache(maxsize=8)
def _environment(env: tuple[tuple[str, str], ...]) -> list[bytes]:
    """The encoded environment. It is cached, because thousands of programs get the same one."""
    for name, _ in env:
        if not name or "=" in name:
            raise _CannotBeGiven(f"{name!r} cannot name an environment variable")
    return [_bytes(f"{name}={value}") for name, value in env]


def _bytes(text: str) -> bytes:
    try:
        written = os.fsencode(text)
    except UnicodeEncodeError:
        raise _CannotBeGiven(f"{text[:100]!r} has a lone surrogate, which no program can be given") from None
    if 0 in written:
        raise _CannotBeGiven(f"{text[:100]!r} has a NUL, which no program can be given")
    return written


class _CannotBeGiven(Exception):
    pass


def refused(command: Command, words: str) -> NotStarted:
    return NotStarted(f"{command.argv[0]!r} cannot be started: {words}")


def not_started(command: Command, stage: str, number: int) -> NotStarted:
    """The keeper failed at that stage, with that errno."""
    if stage == orders.NETWORK:
        words = f"this system does not let it be kept off the network ({os.strerror(number)})"
        return NotKeptOffline(f"{command.argv[0]!r} cannot be started: {words}")
    match stage, number:
        case orders.CWD, errno.ENOENT:
            words = f"its folder {command.cwd} does not exist"
        case orders.CWD, errno.ENOTDIR:
            words = f"its folder {command.cwd} is not a folder"
        case orders.CWD, _:
            words = f"its folder {command.cwd} cannot be entered ({os.strerror(number)})"
        case orders.STDIN, errno.ENOTSUP:
            words = f"its input {command.stdin!s} is not a file"
        case orders.STDIN, _:
            words = f"its input {command.stdin!s} cannot be read ({os.strerror(number)})"
        case orders.PROGRAM, errno.ENOENT | errno.ENOTDIR:
            words = "it was not found; or, if it is a script, the program that its first line names was not"
        case orders.PROGRAM, errno.EACCES:
            words = "it may not be executed (permission denied)"
        case orders.PROGRAM, errno.ENOEXEC:
            words = "it is not a program that this machine can run; a script needs a first line like #!/bin/sh"
        case _, errno.EAGAIN:
            words = "there are as many processes as may be; try again when some have ended"
        case _:
            words = os.strerror(number)
    return refused(command, words)
