"""Halts an interpreter that has just started, and makes a program of it each time that the keeper orders one.

The keeper puts this folder on PYTHONPATH, so CPython imports this module at the end of its own start, just before it
opens the script (see `launcher/standby.py`). For each order it is cloned. The clone leaves this module as if it had
never been here, and goes on to run the script, as the interpreter itself would have done:

  - PYTHONPATH, our folder and our imports are gone. If the system has a `sitecustomize`, it was imported in our place.
  - The clone has the order's input, outputs and folder, a session of its own, and no other descriptor.
  - Its parent is the keeper (CLONE_PARENT), which limits and reaps it like any program that it has started itself.

It waits only for as long as it is what it would be if it were started now. If somebody has installed something, or has
replaced the interpreter, it ends when it gets an order, and the keeper starts the program in the usual way.

The process that waits here hears no signal but SIGKILL and SIGSTOP, and no process of its user can trace it or read its
memory. It ends when the keeper closes the socket, and never runs the script itself.

Any interpreter may come here, so this has to be read by old ones, too. If it is not fit, it ends with another exit code
than WOULD_WAIT when it is tried without a socket.
"""

import os
import sys

WOULD_WAIT = 97

CONTROL = 3
"""The socket to the keeper."""
STREAMS = 4
"""Descriptors that come with an order: input, output, error output, folder."""
PID_BYTES = 4
START = "/"
"""The folder in which it starts. The folder of a run is known when it is ordered."""
LEAST_VERSION = (3, 9)
CLONE = {"x86_64": 56, "aarch64": 220}
SET_ROBUST_LIST, GET_ROBUST_LIST = {"x86_64": 273, "aarch64": 99}, {"x86_64": 274, "aarch64": 100}
"""The numbers of the system calls."""
ARM = "aarch64"
"""Takes the last two arguments of `clone` in the other order."""
CLONE_PARENT, CHILD_SETTID, CHILD_CLEARTID, SIGCHLD = 0x00008000, 0x01000000, 0x00200000, 17
END_WITH_PARENT, SET_DUMPABLE, SET_NAME, GET_NAME, GET_TID_ADDRESS = 1, 4, 15, 16, 40
SIGKILL = 9
TICK_NS = 100000000
"""Longer than any step of a disk's clock. What has changed less than this before we looked may change again unseen."""
LOOK_SECONDS = 0.05
"""Between two looks. Nobody installs something and runs a program again in less, and a look costs as much as a tenth of
a small run."""
HERE = os.path.dirname(os.path.abspath(__file__))
NAME = b"troupe-waits"
"""What `top` calls it while it waits."""


class Cloning:
    """Python's own fork makes children of ours, so this calls the kernel, as the C library's fork does: the kernel
    writes the number of the new thread to where the library keeps it, and the clone tells the kernel once more where
    the library lists the locks that are to be released if the thread dies."""

    def __init__(self) -> None:
        import ctypes

        self._library = library = ctypes.PyDLL(None)  # it keeps the interpreter's lock
        library.syscall.restype = ctypes.c_long
        address, nothing = ctypes.c_void_p(), ctypes.c_void_p()
        if library.prctl(GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
            raise OSError("the kernel does not tell where the C library keeps the number of its thread")
        machine = os.uname().machine
        flags = CLONE_PARENT | CHILD_SETTID | CHILD_CLEARTID | SIGCHLD
        last = (nothing, address) if machine == ARM else (address, nothing)
        self._own_name = ctypes.create_string_buffer(16)
        library.prctl(GET_NAME, self._own_name, 0, 0, 0)
        self._call = ctypes.c_long(CLONE[machine]), ctypes.c_long(flags), nothing, nothing, *last
        locks, size = ctypes.c_void_p(), ctypes.c_size_t()
        library.syscall(ctypes.c_long(GET_ROBUST_LIST[machine]), 0, ctypes.byref(locks), ctypes.byref(size))
        self._list_locks = ctypes.c_long(SET_ROBUST_LIST[machine]), locks, size

    def is_to_wait(self, waits: bool) -> None:
        """While it waits, no program of our user may trace it or read its memory; and it ends with the keeper, even if
        it is halted then. Clones do not inherit that."""
        if waits:
            self._library.prctl(END_WITH_PARENT, SIGKILL, 0, 0, 0)
        self._library.prctl(SET_DUMPABLE, int(not waits), 0, 0, 0)
        self._library.prctl(SET_NAME, NAME if waits else self._own_name, 0, 0, 0)

    def clone(self) -> int:
        """As os.fork; negative if there may be no more processes."""
        self._library.PyOS_BeforeFork()
        pid: int = self._library.syscall(*self._call)
        if pid == 0:
            self._library.syscall(*self._list_locks)
            self._library.PyOS_AfterFork_Child()
        else:
            self._library.PyOS_AfterFork_Parent()
        return pid


def leave_the_environment() -> None:
    import posix

    os.environ.pop("PYTHONPATH", None)
    posix.environ.pop(b"PYTHONPATH", None)


def leave_the_modules() -> None:
    sys.path.remove(HERE)
    sys.path_importer_cache.pop(HERE, None)
    del sys.modules["sitecustomize"]


def import_the_other() -> None:
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:  # it was the list itself
        return False
    return True


def has_children() -> bool:
    with open("/proc/self/task/" + str(os.getpid()) + "/children") as listed:
        return bool(listed.read())


def foundations() -> "list[str]":
    """All files and folders that have decided what this interpreter is by now, and that change when somebody installs
    something: its program, its environment, the folders of its modules, and what it runs at each start."""
    site, program = sys.modules["site"], sys.executable or HERE
    folders = list(sys.path)
    if getattr(site, "ENABLE_USER_SITE", False):  # that folder may not exist yet
        folders.append(getattr(site, "USER_SITE", None) or HERE)
    found = [program, os.path.join(os.path.dirname(program), "pyvenv.cfg"), os.path.join(sys.prefix, "pyvenv.cfg")]
    for folder in folders:
        found.append(folder)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        found.extend(os.path.join(folder, name) for name in names if name.endswith(".pth"))
    library = os.path.join(os.path.dirname(os.__file__), "")
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            its_own = file.startswith(library) and "-packages" not in file
            if not its_own or name in ("sitecustomize", "usercustomize"):
                found.append(file)
    return found


def state(path: str) -> "tuple[int, int, int]":
    """It changes with every change of a file, and of a folder's names."""
    try:
        seen = os.stat(path)
    except OSError:
        return 0, 0, 0
    return seen.st_dev, seen.st_ino, seen.st_ctime_ns


class Foundations:
    """Whether this interpreter is still what it would be if it were started now."""

    def __init__(self, paths: "list[str]", now_ns: int) -> None:
        self._looked_at = float("-inf")
        self._states = [(path, state(path)) for path in paths]
        self._unsure = any(now_ns - TICK_NS < changed <= now_ns for _, (_, _, changed) in self._states)

    def have_changed(self, now: float) -> bool:
        """Also true if that cannot be known. The next interpreter will be sure. After less than LOOK_SECONDS they have
        not changed again."""
        if now <= self._looked_at + LOOK_SECONDS:
            return False
        self._looked_at = now
        return self._unsure or any(state(path) != seen for path, seen in self._states)


def wait() -> None:
    """Returns in each clone."""
    modules, importers = set(sys.modules), set(sys.path_importer_cache)
    import _socket
    import time

    signals = sys.modules["_signal"]  # the module `signal` would import much more
    made_of = Foundations(foundations(), time.time_ns())

    if sys.implementation.name != "cpython" or sys.version_info < LEAST_VERSION:
        raise OSError("this interpreter may work otherwise")
    if not os.confstr("CS_GNU_LIBC_VERSION"):
        raise OSError("this C library may keep something else at that address")
    cloning = Cloning()
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("threads are not cloned")
    if has_children():
        raise OSError("something goes on that belongs to no run")
    if any(int(number) > CONTROL and is_open(int(number)) for number in os.listdir("/proc/self/fd")):
        raise OSError("something has been opened that clones would share")
    if os.getcwd() != START or START in sys.path:
        raise OSError("this is not the folder in which the clones begin")
    heard = signals.pthread_sigmask(signals.SIG_BLOCK, signals.valid_signals())
    cloning.is_to_wait(True)
    try:
        os.set_inheritable(CONTROL, False)
    except OSError:
        os._exit(WOULD_WAIT)
    control = _socket.socket(fileno=CONTROL)
    control.send(os.getpid().to_bytes(PID_BYTES, "big"))
    space = _socket.CMSG_SPACE(4 * STREAMS)
    pid = 1
    streams: list[int] = []
    while pid:
        for stream in streams:
            os.close(stream)
        data, extra, _, _ = control.recvmsg(1, space)
        if not data:
            os._exit(0)
        if signals.sigpending():  # a run has sent them, and they take room in a queue that all of the user's share
            os._exit(0)
        if made_of.have_changed(time.monotonic()):
            os._exit(0)
        held = extra[0][2]
        streams = [int.from_bytes(held[at : at + 4], sys.byteorder) for at in range(0, len(held), 4)]
        pid = cloning.clone()
        if pid:
            control.send(max(0, pid).to_bytes(PID_BYTES, "big"))
    for number, stream in enumerate(streams[:-1]):
        os.dup2(stream, number)
    os.fchdir(streams[-1])
    control.detach()
    os.closerange(CONTROL, max(streams) + 1)
    cloning.is_to_wait(False)
    os.setsid()  # last, as the keeper can see it: until then there is no program that could hide something
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    for path in set(sys.path_importer_cache) - importers:
        del sys.path_importer_cache[path]
    if "threading" in sys.modules:  # Python's own forks miss this, too
        sys.modules["threading"].main_thread()._set_native_id()
    signals.pthread_sigmask(signals.SIG_SETMASK, heard)


if __name__ == "sitecustomize":  # and not when a test imports it
    leave_the_modules()
    if os.environ.get("PYTHONPATH") == HERE:
        try:
            leave_the_environment()
            import_the_other()
            wait()
        except BaseException:
            os._exit(1)  # the script must not run; the keeper starts it in the usual way
    else:  # a clone begins a further interpreter in its own process, which remembers the path of the first
        import_the_other()
    if "sitecustomize" not in sys.modules:
        raise ImportError("there is none", name="sitecustomize")
