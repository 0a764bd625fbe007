"""What runs may not do to the processes beside them, and what they still may."""

import ctypes
import errno
import os
import resource
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.transports.process.house import Processes, open_launcher
from transports.process.launcher import restraint
from transports.process.launcher.restraint import (
    ARM_32,
    ARM_64,
    CALLS,
    MACHINES,
    X86_32,
    X86_64,
    instructions,
    set_limit,
)

KEY = (0x01020304, 0, 0xFFFFFFFF, 5)
NOT_PERMITTED, NO_SUCH_CALL = 1, 38
OTHER = 1234
BEHIND = 1 << 40
"""A pointer whose lower half is 0."""


def answer(kind: int, number: int, arguments: tuple[int, ...] = (), own: int | None = None) -> int:
    """What the filter of a machine says to a call: 0, or the error. Works as the kernel does."""
    program = instructions(kind if own is None else own, KEY)
    data = {0: number, 4: kind}
    for place, value in enumerate((*arguments, *(6 - len(arguments)) * (0,))):
        data[16 + 8 * place], data[20 + 8 * place] = value & 0xFFFFFFFF, value >> 32
    at, loaded = 0, 0
    while True:
        what, if_so, otherwise, value = program[at]
        at += 1
        match what:
            case 0x20:
                loaded = data[value]
            case 0x15:
                at += if_so if loaded == value else otherwise
            case 0x35:
                at += if_so if loaded >= value else otherwise
            case 0x06:
                return 0 if value == 0x7FFF0000 else value & 0xFFFF
        assert if_so < 256 > otherwise


@pytest.mark.parametrize(
    ("kind", "own"), [(X86_64, X86_64), (X86_32, X86_64), (ARM_64, ARM_64), (ARM_32, ARM_64)]
)
def test_the_filter_lets_everybody_change_himself_and_nobody_others(kind: int, own: int) -> None:
    prlimit, setpriority, ioprio_set, scheduling = CALLS[kind]
    key = KEY[0] | KEY[1] << 32, KEY[2] | KEY[3] << 32
    for number, arguments, error in (
        (prlimit, (0, 0, BEHIND), 0),
        (prlimit, (OTHER, 0, 0, BEHIND), 0),
        (prlimit, (OTHER, 0, BEHIND), NOT_PERMITTED),
        (prlimit, (OTHER, 0, 8), NOT_PERMITTED),
        (prlimit, (OTHER, 0, BEHIND, 0, *key), 0 if kind == own else NOT_PERMITTED),
        (prlimit, (OTHER, 0, BEHIND, 0, key[0], key[1] ^ 1 << 32), NOT_PERMITTED),
        (prlimit, (OTHER, 0, BEHIND, 0, key[1], key[0]), NOT_PERMITTED),
        (setpriority, (0, 0, 19), 0),
        (setpriority, (0, OTHER, 19), NOT_PERMITTED),
        (setpriority, (1, 0, 19), NOT_PERMITTED),
        (setpriority, (2, 0, 19), NOT_PERMITTED),
        (ioprio_set, (1, 0, 7), 0),
        (ioprio_set, (1, OTHER, 7), NOT_PERMITTED),
        (ioprio_set, (2, 0, 7), NOT_PERMITTED),
        (ioprio_set, (3, 0, 7), NOT_PERMITTED),
        *((each, (0, BEHIND), 0) for each in scheduling),
        *((each, (OTHER, BEHIND), NOT_PERMITTED) for each in scheduling),
    ):
        assert answer(kind, number, arguments, own) == error, (number, arguments)
    named = {prlimit, setpriority, ioprio_set, *scheduling}
    assert not any(answer(kind, number, (OTHER, OTHER, OTHER), own) for number in range(500) if number not in named)


def test_the_same_calls_under_their_second_numbers_are_not_there() -> None:
    assert answer(X86_64, 0x40000000 + CALLS[X86_64][0], (OTHER, 0, 8)) == NO_SUCH_CALL


def test_kinds_of_call_that_the_machine_does_not_have_are_left_alone() -> None:
    assert answer(ARM_64, CALLS[ARM_64][0], (OTHER, 0, 8), own=X86_64) == 0


ATTACK = """
import os, resource, sys
CPU = resource.RLIMIT_CPU
others = [int(pid) for pid in sys.stdin.read().split()] + [os.getppid()]
def may(do):
    try:
        do()
        return 1
    except PermissionError:
        return 0
for pid in others:
    print(may(lambda: resource.prlimit(pid, CPU, (1000, 1000))), may(lambda: resource.prlimit(pid, CPU)),
          may(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
          may(lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))))
print(may(lambda: resource.setrlimit(CPU, (1000, 1000))), may(lambda: resource.prlimit(0, CPU)),
      may(lambda: os.nice(1)),
      may(lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))),
      may(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))))
"""


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes
        assert await processes.is_healthy()


@pytest.mark.skipif(
    not Path("/proc/sys/kernel/seccomp").exists() or os.uname().machine not in MACHINES, reason="no filters here"
)
async def test_a_run_cannot_set_limits_or_ranks_of_server_launcher_and_keeper_but_its_own(processes: Processes) -> None:
    pids = f"{os.getpid()} {processes.statistics().pid}"
    outcome = await processes.python(ATTACK, stdin=pids.encode())
    *others, itself = outcome.stdout.head.decode().splitlines()
    assert others == ["0 1 0 0"] * 3
    assert itself == "1 1 1 1 0"


class Library:
    """A C library whose every call is answered so."""

    def __init__(self, answer: int) -> None:
        self.calls: list[tuple[object, ...]] = []
        self._answer = answer

    def syscall(self, *call: object) -> int:
        self.calls.append(call)
        ctypes.set_errno(errno.EPERM)
        return self._answer


@pytest.fixture
def limits_set(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Without the filter, by Python's own call."""
    found: list[tuple[object, ...]] = []
    monkeypatch.setattr(restraint, "_key", bytearray(16))
    monkeypatch.setattr(restraint, "_machine", MACHINES["x86_64"])
    monkeypatch.setattr(resource, "prlimit", lambda *call: found.append(call))
    return found


@pytest.mark.parametrize("lacks", ["a library", "a known machine", "filters"])
def test_where_there_are_no_filters_limits_are_set_without_a_key(
    lacks: str, limits_set: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restraint, "_libc", None if lacks == "a library" else Library(-1))
    if lacks == "a known machine":
        monkeypatch.setattr(restraint, "_machine", None)
    assert restraint.restrain() is False
    set_limit(7, 3, 99)
    assert limits_set == [(7, 3, (99, 99))]


def test_with_a_filter_limits_are_set_with_its_key(
    limits_set: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(0)
    monkeypatch.setattr(restraint, "_libc", library)
    assert restraint.restrain() is True
    [(number, *_)] = library.calls
    assert number == MACHINES["x86_64"][1]
    key = bytes(restraint._key)
    assert any(key)
    set_limit(7, 3, 99)
    number, pid, which, limits, _, *words = library.calls[-1]
    assert (number, pid, which, limits) == (CALLS[X86_64][0], 7, 3, struct.pack("=QQ", 99, 99))
    assert struct.pack("=2Q", *(getattr(word, "value", 0) for word in words)) == key
    monkeypatch.setattr(restraint, "_libc", Library(-1))
    with pytest.raises(PermissionError, match=os.strerror(errno.EPERM)):
        set_limit(7, 3, 99)
    assert limits_set == []
