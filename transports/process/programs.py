"""Finds the program for a name, and makes its environment.

An interpreter's name may lead to a shim (pyenv, asdf): a script that searches for the real interpreter at every start,
which takes ten times as long as the start itself. So the interpreter is asked once for its own path. The answer is
valid while the file that was found on the PATH is unchanged, and only for the same folder, because shims choose by
folder.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from actors.kernel import KernelError
from codec.programs import Bounds, Exited, Outcome, Signalled
from transports.process.command import Command
from transports.process.launcher import standby
from transports.process.launcher.standby import WOULD_WAIT
from transports.process.run import Runner

KEPT = frozenset({"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "PYENV_ROOT", "SHELL", "TMPDIR", "TZ", "USER"})
KEPT_PREFIX = "LC_"

ASKED_SECONDS = 20.0
"""Seconds for an interpreter to tell its path; a cold disk needs some."""
ASKED = Bounds(wall_seconds=ASKED_SECONDS, flood_bytes=64 * 1024)
MOST_ANSWERS = 256
ASKING = ("-I", "-S", "-c", "import sys; print(sys.executable)")


class NoSuchProgram(KernelError):
    """The program does not exist, or does not work."""

    def __init__(self, command: str, words: str) -> None:
        super().__init__(f"{command[:200]!r} {words}")


def clean_env(extra: Mapping[str, str] | None = None, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of our environment that every program needs, without our secrets and settings; and `extra`."""
    kept = {name: value for name, value in base.items() if name in KEPT or name.startswith(KEPT_PREFIX)}
    return {"PATH": os.defpath} | kept | dict(extra or {})


def find_program(command: str, *, cwd: Path, path: str | None) -> Path:
    """The program that a shell in that folder would run. `path` has the form of PATH."""
    if not command:
        raise NoSuchProgram(command, "names no program")
    beside = Path(cwd, command)  # an absolute path stays what it is
    found = shutil.which(beside) if os.sep in command else shutil.which(command, path=path or os.defpath)
    if found is not None:
        return Path(cwd, found)
    if os.sep in command:
        if beside.is_dir():
            raise NoSuchProgram(command, "is a folder; expected a program")
        if beside.exists():
            raise NoSuchProgram(command, "may not be executed")
        raise NoSuchProgram(command, "does not exist" if os.path.isabs(command) else f"does not exist in {cwd}")
    raise NoSuchProgram(command, "was not found on the PATH")


class Interpreters:
    """Finds Python interpreters, CPython and PyPy alike."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._answers: dict[tuple[Path, int, Path], Path] = {}
        self._halting: set[str] = set()

    async def resolve(self, command: str, *, cwd: Path, env: Mapping[str, str]) -> Path:
        """The executable for this command. Raises NoSuchProgram, and everything that Runner.run raises."""
        try:
            found = find_program(command, cwd=cwd, path=env.get("PATH"))
            key = (found, found.stat().st_mtime_ns, cwd)
        except OSError as error:  # too long a name; a folder that cannot be read; it has just gone
            raise NoSuchProgram(command, f"cannot be looked at: {error.strerror}") from error
        known = self._answers.get(key)
        if known is None or not os.access(known, os.X_OK):
            known = await self._ask(command, found, cwd, env)
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
                self._halting.clear()
            self._answers[key] = known
            self._halting.discard(str(known))
            if await self._halts(known, env):
                self._halting.add(str(known))
        return known

    def can_be_ahead(self, program: str) -> bool:
        """Whether this executable can be started before it is needed, and halts before it opens a script."""
        return program in self._halting

    async def _ask(self, command: str, found: Path, cwd: Path, env: Mapping[str, str]) -> Path:
        outcome = await self._runner.run(Command([str(found), *ASKING], cwd, env, bounds=ASKED))
        said = outcome.stdout.head.decode("utf-8", "surrogateescape").strip()
        if outcome.end == Exited(0) and os.path.isabs(said) and os.access(said, os.X_OK):
            return Path(said)
        raise NoSuchProgram(command, f"({found}) is not a Python interpreter that works: {_reason(outcome, said)}")


    async def _halts(self, found: Path, env: Mapping[str, str]) -> bool:
        """It is tried with an empty script."""
        if standby.VARIABLE in env:
            return False
        halted = {**env, standby.VARIABLE: standby.FOLDER}
        command = Command([str(found), os.devnull], Path(standby.START), halted, bounds=ASKED)
        outcome = await self._runner.run(command)
        return outcome.end == Exited(WOULD_WAIT) and not outcome.stdout.total and not outcome.stderr.total


def _reason(outcome: Outcome, said: str) -> str:
    complaint = outcome.stderr.head.decode("utf-8", "replace").strip()
    if complaint:
        return complaint.splitlines()[-1][:200].rstrip(".")
    match outcome.end:
        case _ if outcome.stopped_for is not None:
            return f"it was stopped ({outcome.stopped_for}) when it was asked where it is"
        case Signalled(number):
            return f"it was ended by signal {number}"
        case Exited(code) if code:
            return f"it ended with exit code {code}"
        case _:
            return f"asked where it is, it said {said[:200]!r}"
