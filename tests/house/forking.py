"""Servers that need not import their code: a process that has imported it all forks them.

To import its code costs a server 0.65 s of CPU time, and the tests start some thousand of them. So each worker keeps
one process, the forker, that has imported everything a server needs and has run none of it. It forks on demand. What it
forks takes words, folder, environment, input and output from the request, and runs `supervisor.py` from its first line,
as a process of its own: a server, or a command that ends by itself. `Forked` is a Popen of it.

Some tests are about what comes before that: the interpreter's options and environment, imports, a signal among them.
They start a server without it (`Server(cold=True)`), and so does the README's test.

    worker    -> forker    {words, folder, environ} with four descriptors: stdin, stdout, stderr, a pipe for the end
    forker    -> worker    the process id
    forker    -> the pipe  the status with which it ended
    the forker ends when its worker has ended: nobody holds the channel's other end any more
"""

import atexit
import contextlib
import faulthandler
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tests.descriptors import end_loudly, watch

ROOT = Path(__file__).parents[2]
MOST_BYTES = 1 << 20
READ_AT_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC")
"""The interpreter has read these variables before it forks."""


def can_fork(environ: Mapping[str, str]) -> bool:
    """Whether a forked process would heed what this environment changes."""
    return not any(name.startswith(READ_AT_THE_START) for name in environ)


# -- the worker's side


class Forked(subprocess.Popen[str]):
    """Python with these words: a file and its arguments, or `-m` with a module's name and its arguments."""

    def __init__(
        self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str], **streams: int | IO[str] | None
    ) -> None:
        self._status, self._ends = os.pipe()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        super().__init__(words, text=True, cwd=cwd, env=env, **{**pipes, **streams})  # type: ignore[call-overload]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Of a test that has failed nobody waits for what it has started."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, at)

    def _execute_child(self, args: list[str], *facts: Any) -> None:
        """Takes the place of Popen's own, which forks and executes."""
        cwd, env = facts[4:6]
        given = [facts[at] for at in (9, 12, 14)]
        streams = [own if one == -1 else one for own, one in enumerate(given)]
        try:
            self.pid = _forker().fork([*args], str(cwd), env, (*streams, self._ends))
            self._child_created = True
        finally:
            os.close(self._ends)
            self._close_pipe_fds(*facts[9:15])  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """Takes the place of waitpid: it is the forker's child."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._status, selectors.EVENT_READ)
            if not selector.select(0 if flags & os.WNOHANG else None):
                return 0, 0
        said = os.read(self._status, 4)
        os.close(self._status)
        return self.pid, int.from_bytes(said, "little", signed=True)

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None:
                    pid, status = self._try_wait(os.WNOHANG)
                    if pid:
                        self.returncode = os.waitstatus_to_exitcode(status)
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


class _Forker:
    def __init__(self) -> None:
        self._channel, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (self._channel, its):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
        with its:
            command = [sys.executable, "-m", "tests.house.forking", str(its.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[its.fileno()], cwd=ROOT)
        self._lock = threading.Lock()

    def fork(self, words: list[str], folder: str, environ: Mapping[str, str], descriptors: Sequence[int]) -> int:
        asked = json.dumps({"words": words, "folder": folder, "environ": dict(environ)}).encode()
        with self._lock:
            socket.send_fds(self._channel, [asked], descriptors)
            return int(self._channel.recv(64))


@functools.cache
def _forker() -> _Forker:
    return _Forker()


# -- the forker's side


LOADED = ("supervisor", "program.arguments", "program.serving", "actors.store",
          *(f"systems.{each}" for each in ("agent", "console", "ipc", "judge", "sidekick")),
          "program.commands.ipc", "systems.ipc_commands", "tests.agent.fakes")  # fmt: skip
"""With what these import, it is what a server imports before it is ready, a command before it begins, and a fake model
before it answers."""


def serve(channel: socket.socket) -> Callable[[], None] | None:
    """Forks whenever it is asked. In the forked process it returns what is to be run; at the end, nothing."""
    awake, wakes = socket.socketpair()
    awake.setblocking(False)
    wakes.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker; without a worker this ends
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    ends: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        selector.register(awake, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if awake in ready:
                awake.recv(4096)
                _tell_ends(ends)
            if channel not in ready:
                continue
            asked, descriptors, *_ = socket.recv_fds(channel, MOST_BYTES, 4)
            if not asked:
                return None
            pid = os.fork()
            if pid == 0:
                selector.close()
                for ours in (awake, wakes, channel):
                    ours.close()
                *streams, end = descriptors
                for each in (end, *ends.values()):
                    os.close(each)
                return functools.partial(run, **json.loads(asked), streams=streams)
            *streams, ends[pid] = descriptors
            for each in streams:
                os.close(each)
            channel.send(b"%d" % pid)


def _tell_ends(ends: dict[int, int]) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            pid, status = ended
            with contextlib.suppress(BrokenPipeError):  # nobody wants to know any more
                os.write(ends[pid], status.to_bytes(4, "little", signed=True))
            os.close(ends.pop(pid))


def run(words: list[str], folder: str, environ: dict[str, str], streams: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for its, ours in enumerate(streams):
        os.dup2(ours, its)
        os.close(ours)
    watch(end_loudly)
    faulthandler.enable()  # in place of PYTHONFAULTHANDLER: SIGABRT asks one that hangs for its stacks
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = folder
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = str(Path(words[0]).parent)
        runpy.run_path(words[0], run_name="__main__")


def _leave(statuses: list[int]) -> None:
    """The interpreter calls it last, after its threads have ended and after whatever was registered later."""
    if not statuses:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads it any more, or it is closed: the interpreter has its own way
        return
    os._exit(statuses[0] & 0xFF)


def end(forked: Callable[[], None], statuses: list[int]) -> None:
    try:
        forked()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            statuses.append(ended.code or 0)
        raise
    statuses.append(0)


if __name__ == "__main__":
    statuses: list[int] = []
    atexit.register(_leave, statuses)  # before anything else is
    for module in LOADED:
        importlib.import_module(module)
    gc.freeze()  # or whatever is forked would look through all of it at its end, and so copy it, for 0.3 s of CPU time
    forked = serve(socket.socket(fileno=int(sys.argv[1])))
    if forked is not None:
        end(forked, statuses)
