"""How a process of ours stands to the system: which signals it hears, whose orphans it is given, who is to go first,
and what its runs may do to others.

    what a run may not do              by what                                where
    gain privileges (su, ping)         no_new_privs, from the launcher on     Linux
    signal anybody but its own keeper  a Landlock domain for each keeper      Linux 6.12, if its kernel has Landlock
    trace anybody but its own keeper   the same                               the same
    trace its keeper                   the keeper is not dumpable             Linux
    use a server's power over the      what it runs has no capabilities that  Linux, if the server is root's
    machine (mount, trace, reboot)     reach beyond files

What the kernel refuses us is done without: then runs can kill their launcher, and the server finds out who does.

There is no `prctl` in the standard library, so it goes through ctypes.
"""

import ctypes
import os
import resource
import signal
import sys

LINUX = sys.platform == "linux"
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

GOES_FIRST = 500
"""The place of keepers, and of what they run, among those who are ended when memory runs out: of 1,000."""

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_OVER_THE_MACHINE = (16, 17, 19, 20, 21, 22, 24, 25, 38, 39)
"""CAP_SYS_MODULE, RAWIO, PTRACE, PACCT, ADMIN, BOOT, RESOURCE, TIME, and CAP_PERFMON, CAP_BPF."""
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
"""The same on every machine but Alpha, which refuses what it does not know."""
_SCOPE_SIGNAL = 2
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def settle() -> None:
    """As a launcher: nothing reaches it but its sockets."""
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir("/")


def adopt_orphans() -> None:
    """Whatever is orphaned below becomes a child of ours. Not inherited by forks."""
    if _libc is not None and _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "prctl")


def gain_nothing() -> None:
    """Programs that would run as somebody else run as us: nobody else's is out of our reach. Inherited."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in _OVER_THE_MACHINE:
        _prctl(_PR_CAPBSET_DROP, capability)


def be_private(private: bool = True) -> None:
    """Whether other programs of our user may trace us, or look into our memory. Inherited by forks, and not beyond."""
    _prctl(_PR_SET_DUMPABLE, not private)


def keep_to_ourselves() -> bool:
    """Neither we nor what we run can signal anybody above or beside us. False: the kernel does not offer that."""
    if _libc is None:
        return False
    rules = (ctypes.c_uint64 * 3)(0, 0, _SCOPE_SIGNAL)  # files and sockets are as free as ever
    ruleset = _libc.syscall(_LANDLOCK_CREATE_RULESET, rules, ctypes.sizeof(rules), 0)
    if ruleset < 0:  # before 6.12, or without Landlock
        return False
    try:
        return bool(_libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _prctl(option: int, value: int) -> None:
    if _libc is not None:  # refused by an old kernel, it is done without
        _libc.prctl(option, value, 0, 0, 0)


def go_first() -> None:
    """When memory runs out, the system ends us sooner than the server or an editor, and what we run still sooner, which
    inherits this and is larger."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:  # not Linux, or not allowed: nothing depends on it
        return
    os.write(descriptor, b"%d" % GOES_FIRST)
    os.close(descriptor)
