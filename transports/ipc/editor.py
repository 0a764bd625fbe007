"""The editor as a program: launched detached, found again after a crash, ended with all that it has started.

    FOLDER/editor.lock    a lock of the kernel's, held by the server that manages this editor, until it ends in any way
    FOLDER/editor.json    what the last launch has left: process id, its start by the kernel's clock, and a token

Rules
  - A process is known by its id and its start, for ids are given out again.
  - The token stands in the environment of the launch, and so in that of all its processes, also of those that have left
    its session, as an editor's do. What belongs to a launch: its process, all that carry its token, and their children.
  - The token is on the disk before the launch. So a launch is found again whenever we are killed.
  - A command may hand over to another process within a minute, the oldest that belongs to the launch. Later the end of
    that process is the editor's, though programs that somebody has started in its terminals may live on.
  - What the record says of a process is believed only if that carries the record's token: whoever writes a record does
    not make a program of ours the editor.
  - Only what belongs to a launch is ended. Each process is asked once, and first those that have none of them above.
  - Without /proc (which is Linux's), only a launch of this process is known, and is ended as a process group; after a
    crash a ping says whether the editor lives.

Everything here is done in threads.
"""

import fcntl
import json
import os
import secrets
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.kernel import KernelError, in_words
from transports.folder.owned import check_own_file
from transports.ipc.processes import MARK, Census, Known, uptime
from transports.process.programs import clean_env, find_program

LOCK, RECORD = "editor.lock", "editor.json"
FOR_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK")
"""Beyond what every program gets: an editor has a window, and belongs to a session."""
XDG = "XDG_"
HANDOVER_SECONDS = 60.0
PATIENCE = 10.0
"""For the disk and the kernel."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOG = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SHORT = 4096

R = TypeVar("R")


class LaunchRecord(Struct, frozen=True):
    token: str
    boot: str
    """Which start of the machine its times are of."""
    at: float
    """Seconds since that."""
    process: Known | None = None


class EditorSeen(Struct, frozen=True):
    pid: int | None
    age: float
    code: int | None


def editor_env(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    return clean_env({name: value for name, value in base.items() if name in FOR_SCREENS or name.startswith(XDG)}, base)


class DetachedEditor:
    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        proc: Path = Path("/proc"),
    ) -> None:
        """`folder`: where the lock and the record are, the same for all that may manage this editor. `log`: takes the
        output, anew with each launch; None: nobody does."""
        self._command = list(command)
        self._folder = folder
        self._cwd = cwd
        self._env = dict(env if env is not None else editor_env())
        self._log = log
        self._census = Census(proc)
        self._lock: int | None = None
        self._record: LaunchRecord | None = None
        self._read = False
        self._process: subprocess.Popen[bytes] | None = None
        self._child: Known | None = None
        """What we have launched ourselves."""
        self._main: Known | None = None
        self._asked: set[Known] = set()
        self._turn = trio.CapacityLimiter(1)

    @property
    def name(self) -> str:
        return f"`{self._command[0]}`" if self._command else "the editor's command"

    async def claim(self) -> str | None:
        return await self._in_thread(self._claim, f"{self._folder} does not answer; look at its disk.")

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._process is not None and self._process.poll() is None:
            self._process.returncode = 0  # it lives on, and subprocess would warn of that

    async def launch(self) -> str | None:
        return await self._in_thread(self._launch, f"{self.name} cannot be started: the system does not answer.")

    async def look(self) -> EditorSeen:
        return await self._in_thread(self._look, EditorSeen(None, 0.0, None))

    async def end(self, *, hard: bool) -> None:
        await self._in_thread(lambda: self._end(hard=hard), None)

    async def _in_thread(self, call: Callable[[], R], too_late: R) -> R:
        with trio.move_on_after(PATIENCE):
            return await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._turn)
        return too_late

    # -- the claim

    def _claim(self) -> str | None:
        try:
            folder = os.open(self._folder, _FOLDER)
        except OSError as error:
            self._let_go()
            return f"The editor is not managed: {self._folder} cannot be used ({error.strerror})."
        try:
            return self._claim_in(folder)
        except OSError as error:
            return f"The editor is not managed: {self._folder / LOCK} cannot be used ({error.strerror})."
        finally:
            os.close(folder)

    def _claim_in(self, folder: int) -> str | None:
        if self._lock is not None:
            with suppress(FileNotFoundError):
                there = os.stat(LOCK, dir_fd=folder, follow_symlinks=False)
                if os.path.samestat(there, os.fstat(self._lock)):
                    return None
            self._let_go()  # the folder is another one by now
        file = os.open(LOCK, _LOCK, 0o600, dir_fd=folder)
        try:
            check_own_file(file, LOCK)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, _SHORT).decode("ascii", "replace").strip()
            os.close(file)
            who = f"process {holder}" if holder.isdigit() else "another process"
            return f"The editor is managed by {who}; this one stands by."
        except BaseException:
            os.close(file)
            raise
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        self._lock, self._read = file, False
        return None

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- the record

    def _recall(self) -> None:
        """What an earlier process has left."""
        if self._read:
            return
        self._read = True
        if self._record is not None:
            return
        try:
            with open(os.open(self._folder / RECORD, _READ), "rb") as file:
                fields = json.loads(file.read(_SHORT))
            process = Known(int(fields["pid"]), int(fields["start"])) if fields["pid"] is not None else None
            record = LaunchRecord(str(fields["token"]), str(fields["boot"]), float(fields["at"]), process)
        except (OSError, ArithmeticError, ValueError, KeyError, TypeError, RecursionError):  # none, or none of ours
            return
        if record.boot == self._census.boot and record.token:
            self._record = record
            self._main = self._oldest(record)

    def _oldest(self, record: LaunchRecord) -> Known | None:
        """The command's own process, while it lives: it is the first."""
        family = self._family(record)
        if record.process in family:
            return record.process
        return min(family, key=lambda each: (each.start, each.pid), default=None)

    def _family(self, record: LaunchRecord) -> set[Known]:
        return self._census.family(record.token, self._child)

    def _write(self, record: LaunchRecord) -> None:
        pid, start = record.process or (None, None)
        fields = {"token": record.token, "boot": record.boot, "at": record.at, "pid": pid, "start": start}
        folder, draft = os.open(self._folder, _FOLDER), f".{secrets.token_hex(6)}.draft"
        try:
            with open(os.open(draft, _NEW, 0o600, dir_fd=folder), "w", encoding="utf-8") as out:
                json.dump(fields, out)
                out.flush()
                os.fsync(out.fileno())
            os.rename(draft, RECORD, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            os.close(folder)
        self._record = record

    # -- the launch

    def _launch(self) -> str | None:
        if not self._command:
            return "The editor's command is empty."
        try:
            program = find_program(self._command[0], cwd=self._cwd, path=self._env.get("PATH"))
            record = LaunchRecord(secrets.token_hex(16), self._census.boot, uptime())
            self._write(record)
            self._child = self._main = None
            self._asked = set()
            self._process = self._started(program, record.token)
            start = self._census.start(self._process.pid)
            if start is not None:
                known = Known(self._process.pid, start)
                self._child = self._main = known
                self._write(replace(record, process=known))
        except KernelError as why:
            return f"The editor cannot be started: {in_words(why)}."
        except (OSError, ValueError) as error:
            return f"{self.name} cannot be started: {getattr(error, 'strerror', None) or error}."
        return None

    def _started(self, program: Path, token: str) -> subprocess.Popen[bytes]:
        output = os.open(self._log, _LOG, 0o600) if self._log is not None else subprocess.DEVNULL
        try:
            return subprocess.Popen(  # noqa: S603 - the configured command
                [str(program), *self._command[1:]],
                cwd=self._cwd,
                env={**self._env, MARK: token},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            if output != subprocess.DEVNULL:
                os.close(output)

    # -- what is there of it

    def _look(self) -> EditorSeen:
        self._recall()
        if self._record is None:
            return EditorSeen(None, 0.0, self._code())
        age = max(0.0, uptime() - self._record.at)
        if not self._census.there:
            code = self._code()
            return EditorSeen(self._process.pid if self._process and code is None else None, age, code)
        if self._main is None or not self._lives(self._main):
            self._main = self._oldest(self._record) if age < HANDOVER_SECONDS else None
            if self._main is not None:
                with suppress(OSError):  # then it is found by its token
                    self._write(replace(self._record, process=self._main))
        pid = self._main.pid if self._main else None
        return EditorSeen(pid, age, self._code())  # asked last: what was found dead has its code by now

    def _code(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def _lives(self, each: Known) -> bool:
        if self._census.start(each.pid) == each.start:
            return True
        if self._process is None or each.pid != self._process.pid:
            with suppress(ChildProcessError, OSError):  # an orphan of it may have become our child
                os.waitpid(each.pid, os.WNOHANG)
        return False

    def _end(self, *, hard: bool) -> None:
        number = signal.SIGKILL if hard else signal.SIGTERM
        if not self._census.there:
            if self._process is not None and self._process.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, number)
            return
        if self._record is None:
            return
        family = self._family(self._record)
        above = {each.pid for each in family}
        for each in family:
            if hard or (each not in self._asked and self._census.parent(each.pid) not in above):
                self._asked.add(each)
                self._census.signal(each, number)
