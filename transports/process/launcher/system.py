"""The relations of our processes to the system: their signals, the orphans that they adopt, their order when memory
runs out, and what their runs may do to others.

    what a run may not do              by what                                where
    gain privileges (su, ping)         no_new_privs, from the launcher on     Linux
    signal anybody but its own keeper  a Landlock domain for each keeper      Linux 6.12, if its kernel has Landlock
    trace anybody but its own keeper   the same                               the same
    trace its keeper                   the keeper is not dumpable             Linux
    set limits or ranks of others      a filter (see `restraint.py`)          Linux, on x86-64 and ARM64
    use a server's power over the      what it runs has no capabilities that  Linux, if the server is root's
    machine (mount, trace, reboot)     reach beyond files

If the kernel refuses one of these, we do without it. Then runs can kill their launcher, and the server finds out which
did.

There is no `prctl` in the standard library, so it goes through ctypes.
"""

import ctypes
import errno
import os
import resource
import signal
import sys

LINUX = sys.platform == "linux"
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

GOES_FIRST = 500
"""The rank (of 1,000) of keepers and their runs among the processes that the system kills when memory runs out."""

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_OVER_THE_MACHINE = (12, 16, 17, 19, 20, 21, 22, 23, 24, 25, 38, 39)
"""CAP_NET_ADMIN; CAP_SYS_MODULE, RAWIO, PTRACE, PACCT, ADMIN, BOOT, NICE, RESOURCE, TIME; CAP_PERFMON, CAP_BPF."""
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
"""The same on every machine except Alpha, which refuses unknown calls."""
_SCOPE_SIGNAL = 2
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def settle() -> None:
    """For the launcher: it ignores signals, so that it is reached only by its sockets."""
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir("/")


def adopt_orphans() -> None:
    """Orphans below us become our children. Forks do not inherit this."""
    if _libc is not None and _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "prctl")


def gain_nothing() -> None:
    """Programs that would run as another user run as us, so we can always end them. Inherited."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in _OVER_THE_MACHINE:
        _prctl(_PR_CAPBSET_DROP, capability)


def be_private(private: bool = True) -> None:
    """Whether to forbid that other programs of our user trace us or read our memory. Only forks inherit this."""
    _prctl(_PR_SET_DUMPABLE, not private)


def keep_to_ourselves() -> bool:
    """Makes us and our runs unable to signal any process above or beside us. False: the kernel does not offer that."""
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


def leave_network() -> None:
    """Enters a network without anything, in a user namespace in which we are who we are. Only for a process with one
    thread. Raises OSError if the kernel does not allow it."""
    if _libc is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    same_user, same_group = b"%d %d 1" % (user, user), b"%d %d 1" % (group, group)
    for name, text in (("setgroups", b"deny"), ("uid_map", same_user), ("gid_map", same_group)):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text)
        os.close(descriptor)


def _prctl(option: int, value: int) -> None:
    if _libc is not None:  # refused by an old kernel, it is done without
        _libc.prctl(option, value, 0, 0, 0)


def go_first() -> None:
    """When memory runs out, the system kills us before the server or an editor. It kills our runs even earlier, because
    they inherit this and are larger."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:  # not Linux, or not allowed: nothing depends on it
        return
    os.write(descriptor, b"%d" % GOES_FIRST)
    os.close(descriptor)
