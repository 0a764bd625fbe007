"""A command as an order: how long it may be, and what is said of one that cannot be given or was not started."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from codec.programs import Bounds
from transports.process.command import Command
from transports.process.launcher import orders
from transports.process.order import NotKeptOffline, NotStarted, not_started, order_of


def order(**fields: Any) -> orders.Order:
    frame = orders.take_frame(bytearray(order_of(commanded(**fields))))
    assert frame is not None
    return orders.read_order(frame)


def commanded(**fields: Any) -> Command:
    return Command(**{"argv": ("prog", "a"), "cwd": Path("/w"), "env": {"A": "b"}, "stdin": Path("/in"), **fields})


def test_an_order_has_all_that_a_command_has() -> None:
    plain = order()
    assert (plain.argv, plain.env, plain.cwd, plain.stdin) == ([b"prog", b"a"], [b"A=b"], b"/w", b"/in")
    assert (plain.offline, plain.ahead, plain.may_hide, plain.processes) == (False, False, False, 512)
    assert plain.cpu_seconds is plain.memory_bytes is plain.file_bytes is plain.wall_seconds is None
    bounds = Bounds(cpu_seconds=1.5, wall_seconds=2.5, memory_bytes=3, processes=4, file_bytes=5, may_hide=True)
    bounded = order(bounds=bounds, offline=True, ahead=True)
    assert (bounded.offline, bounded.ahead, bounded.may_hide, bounded.processes) == (True, True, True, 4)
    limits = bounded.cpu_seconds, bounded.wall_seconds, bounded.memory_bytes, bounded.file_bytes
    assert limits == (1.5, 2.5, 3, 5)
    assert order(folder=7).cwd == b""  # it comes open
    assert order(stdin=b"").stdin == os.fsencode(os.devnull)
    assert order(stdin=b"x").stdin == order(stdin=(b"x", b"y")).stdin == b""  # through a pipe


def test_an_order_may_be_as_long_as_it_may_be_and_no_longer() -> None:
    beside = len(order_of(commanded(argv=("prog", ""))))
    most = orders.MOST_BYTES - beside
    assert len(order_of(commanded(argv=("prog", "x" * most)))) == orders.MOST_BYTES
    with pytest.raises(NotStarted) as refused:
        order_of(commanded(argv=("prog", "x" * (most + 1))))
    assert str(refused.value) == (
        "'prog' cannot be started: its arguments and environment have 131073 bytes, and may have 131072; put what is "
        "large in a file"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"argv": ()}, "no program is named: the command is empty"),
        ({"argv": ("",)}, "no program is named: the command is empty"),
        ({"argv": ("prog", "a\0b")}, r"'prog' cannot be started: 'a\x00b' has a NUL, which no program can be given"),
        ({"env": {"": "b"}}, "'prog' cannot be started: '' cannot name an environment variable"),
        ({"env": {"A=": "b"}}, "'prog' cannot be started: 'A=' cannot name an environment variable"),
        (
            {"env": {"A": "\udfff"}},
            r"'prog' cannot be started: 'A=\udfff' has a lone surrogate, which no program can be given",
        ),
        ({"cwd": Path("/a\0")}, r"'prog' cannot be started: '/a\x00' has a NUL, which no program can be given"),
        ({"stdin": Path("/a\0")}, r"'prog' cannot be started: '/a\x00' has a NUL, which no program can be given"),
    ],
)
def test_a_command_that_no_program_can_be_given_is_refused_in_words(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(NotStarted) as refused:
        order_of(commanded(**fields))
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("stage", "number", "words"),
    [
        (orders.CWD, errno.ENOENT, "its folder /w does not exist"),
        (orders.CWD, errno.ENOTDIR, "its folder /w is not a folder"),
        (orders.CWD, errno.EACCES, "its folder /w cannot be entered (Permission denied)"),
        (orders.STDIN, errno.ENOTSUP, "its input /in is not a file"),
        (orders.STDIN, errno.ENOENT, "its input /in cannot be read (No such file or directory)"),
        *(
            (
                orders.PROGRAM,
                number,
                "it was not found; or, if it is a script, the program that its first line names was not",
            )
            for number in (errno.ENOENT, errno.ENOTDIR)
        ),
        (orders.PROGRAM, errno.EACCES, "it may not be executed (permission denied)"),
        (
            orders.PROGRAM,
            errno.ENOEXEC,
            "it is not a program that this machine can run; a script needs a first line like #!/bin/sh",
        ),
        *(
            (stage, errno.EAGAIN, "there are as many processes as may be; try again when some have ended")
            for stage in (orders.PROGRAM, orders.KEEPER)
        ),
        (orders.PROGRAM, errno.ENOMEM, "Cannot allocate memory"),
        (orders.KEEPER, errno.ENOENT, "No such file or directory"),
        (orders.NETWORK, errno.EPERM, "this system does not let it be kept off the network (Operation not permitted)"),
    ],
)
def test_a_start_that_failed_is_said_in_words(stage: str, number: int, words: str) -> None:
    refused = not_started(commanded(), stage, number)
    assert str(refused) == f"'prog' cannot be started: {words}"
    assert isinstance(refused, NotKeptOffline) is (stage == orders.NETWORK)
