"""What runs may not do to processes beside them, though these belong to the same user.

Every process may set the limits of every other process of its user, for good: one call, and the server has no memory
for the next run, or the kernel kills it for the CPU time that it has used. It may also make the others wait for every
idle program of the machine. Landlock forbids none of this, so a filter of the kernel's does (seccomp, Linux).

    prlimit                                    only one's own limits may be set; those of others may be read
    setpriority, ioprio_set                    only for oneself, and never for a group or a whole user
    sched_setscheduler, _setparam, _setattr    only for oneself

A filter sees the registers of a call and nothing else. It does not know who calls, so "oneself" is the process 0. It is
inherited, so it stands in the keeper as well, which sets the limits of its runs (birth.py). The keeper shows a key in
two registers that `prlimit` does not use. Only the keeper knows it: nobody else can read its memory, or a filter.

Where the kernel has no filters, or the machine is none of those below, we do without.
"""

import ctypes
import os
import resource
import struct
import sys

from transports.process.launcher.system import _libc

X86_64, X86_32, ARM_64, ARM_32 = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028
"""How the kernel calls a machine's kinds of call. A 64-bit kernel takes those of 32-bit programs too."""
CALLS = {
    X86_64: (302, 141, 251, (142, 144, 314)),
    X86_32: (340, 97, 289, (154, 156, 351)),
    ARM_64: (261, 140, 30, (118, 119, 274)),
    ARM_32: (369, 97, 314, (154, 156, 380)),
}
"""The numbers of prlimit, setpriority, ioprio_set, and the three of scheduling."""
MACHINES = {"x86_64": (X86_64, 317), "aarch64": (ARM_64, 277)}
"""For each machine, its own kind of call, and the number of `seccomp`."""
_X32 = 0x40000000
"""On x86, the numbers from here on are the same calls once more."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM and ENOSYS
_NUMBER, _KIND, _ARGUMENTS = 0, 4, 16
_SET_FILTER, _WITHOUT_SLOWING = 1, 4

Instruction = tuple[int, int, int, int]
Condition = tuple[int, int]
"""An offset in the call's data, and the value that stands there."""

_machine = MACHINES.get(os.uname().machine) if sys.maxsize > 1 << 32 else None
_key = bytearray(16)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrain() -> bool:
    """Restrains us and all that we start, for good. From now on `set_limit` sets the limits of others. False: the
    kernel does not offer that."""
    if _libc is None or _machine is None:
        return False
    kind, seccomp = _machine
    key = os.urandom(len(_key))
    code = b"".join(struct.pack("=HBBI", *each) for each in instructions(kind, struct.unpack("=4I", key)))
    if _libc.syscall(seccomp, _SET_FILTER, _WITHOUT_SLOWING, ctypes.byref(_Program(len(code) // 8, code))) != 0:
        return False
    _key[:] = key
    return True


def set_limit(pid: int, which: int, limit: int) -> None:
    """Sets the soft and the hard limit of another process. Raises OSError."""
    if _libc is None or _machine is None or not any(_key):
        resource.prlimit(pid, which, (limit, limit))
        return
    number, *_ = CALLS[_machine[0]]
    words = [ctypes.c_uint64(word) for word in struct.unpack("=2Q", _key)]
    if _libc.syscall(number, pid, which, struct.pack("=QQ", limit, limit), None, *words) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def instructions(kind: int, key: tuple[int, ...]) -> list[Instruction]:
    """The filter of a machine whose own kind of call this is."""
    program: list[Instruction] = []
    for each in (X86_64, X86_32) if kind == X86_64 else (ARM_64, ARM_32):
        block = _block(each, key if each == kind else ())
        program += [(_LOAD, 0, 0, _KIND), (_EQUAL, 0, len(block), each), *block]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _block(kind: int, key: tuple[int, ...]) -> list[Instruction]:
    block: list[Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    if kind == X86_64:
        block += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    shown = [(_argument(4) + 4 * place, word) for place, word in enumerate(key)]
    only_reads = [(_argument(2), 0), (_argument(2) + 4, 0)]
    itself, first, second = [(_argument(0), 0)], _argument(0), _argument(1)
    prlimit, setpriority, ioprio_set, scheduling = CALLS[kind]
    rules: list[tuple[int, list[list[Condition]]]] = [
        (prlimit, [itself, only_reads, shown] if shown else [itself, only_reads]),
        (setpriority, [[(first, 0), (second, 0)]]),
        (ioprio_set, [[(first, 1), (second, 0)]]),
        *((number, [itself]) for number in scheduling),
    ]
    for number, ways in rules:
        check = _check(ways)
        block += [(_EQUAL, 0, len(check), number), *check]
    return [*block, (_RETURN, 0, 0, _ALLOW)]


def _check(ways: list[list[Condition]]) -> list[Instruction]:
    """Allows a call if all conditions of one way hold."""
    check: list[Instruction] = []
    for way in ways:
        for place, (offset, value) in enumerate(way):
            to_the_next_way = 2 * (len(way) - place) - 1
            check += [(_LOAD, 0, 0, offset), (_EQUAL, 0, to_the_next_way, value)]
        check.append((_RETURN, 0, 0, _ALLOW))
    return [*check, (_RETURN, 0, 0, _REFUSE)]


def _argument(place: int) -> int:
    return _ARGUMENTS + 8 * place
