"""Runs the agent's commands: a line by the shell, words as they are.

    commands = ShellCommands(Runner(registry, AGENT_LAUNCHER))
    outcome = await commands.run(order, said, stop)

Rules
  - A line is run by /bin/sh, which every system has and which is what programs mean by "the shell" (system(3), make). A
    user's own shell would read a user's own settings.
  - The folder is opened name by name below the workspace's root, no link is followed, and the command begins in the
    folder that was opened, whatever has its name by then.
  - The command's keeper (transports/process/) ends it with everything that it has started before the outcome is told:
    when it ends, when it is stopped, when it exceeds a limit. So a program that should go on running has to be started
    by somebody else.
  - Without `network` it has no network, where the system allows that (`confines`). It has a loopback of its own, so
    tests that talk to themselves work, but it reaches nothing outside of that, other servers of this machine included.
    Downloads, `sudo`, `ping` and giving files to others (`chown`) do not work then.
  - It is no sandbox. A command can do what its user can: read and write every file of that account, outside the
    workspace, too, and reach sockets that are files (docker, an ssh agent). That is why the user is asked.
"""

import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock

import trio

from actors import kernel
from actors.kernel import KernelError
from codec.agent.action_events import StreamName
from codec.agent.commands import CommandOrder, CommandOutcome, Ending
from codec.agent.files import FileRefused
from codec.agent.tree_paths import tree_names
from codec.programs import MIB, Bounds, Excess, Exited, Outcome, Signalled
from codec.words import lasting
from transports.agent.command_environment import command_environment
from transports.agent.command_output import TextAsItComes, kept_text
from transports.agent.git_settings import LOOK_UP, is_in_repository, without_diff_drivers
from transports.agent.tree import refused_read
from transports.folder.rooted import Rooted
from transports.process.command import Command
from transports.process.run import Interrupted, NotKeptOffline, NotStarted, Runner, StoppedBefore, StopSign

SHELL = "/bin/sh"
SECONDS = 10.0
"""To open its folder; a disk may hang."""
THREADS = 4
FLOOD_BYTES = 64 * MIB
MEMORY_SHARE = 0.75
"""Of the machine's memory, for all processes of a command together."""
PROCESSES = 1024
PROBE = ("/bin/cat", "/proc/self/net/dev")
PROBE_SECONDS = 10.0
CONFIGURATION_BYTES = 4 * MIB
"""Of the names in a repository's configuration."""


class ShellCommands:
    """The Commands of actors/agent/given.py."""

    def __init__(self, runner: Runner, base: Mapping[str, str] = os.environ) -> None:
        self._runner = runner
        self._base = base
        self._threads = trio.CapacityLimiter(THREADS)
        self._probing = trio.Lock()
        self._confines: bool | None = None

    def environment(self, order: CommandOrder) -> Mapping[str, str]:
        """Without what is settled for the diff drivers of the repository in which it runs."""
        return command_environment(order.environment, self._base)

    async def confines(self) -> bool:
        try:
            return await self._can_confine()
        except KernelError:  # it is not known: it is found out the next time
            return False

    async def run(self, order: CommandOrder, said: Callable[[StreamName, str], None], stop: StopSign) -> CommandOutcome:
        text = TextAsItComes(said)
        try:
            async with self._entered(order) as entered:
                for_git = await self._git_settings(order, entered, stop)
                command = Command(
                    argv=(SHELL, "-c", "--", order.command) if isinstance(order.command, str) else order.command,
                    cwd=Path(order.root, order.folder),
                    env=command_environment(order.environment, self._base, for_git),
                    bounds=_bounds(order),
                    folder=entered.folder,
                    offline=not order.network and await self._can_confine(),
                )
                outcome = await self._runner.run(command, on_output=text.take, stop=stop)
        except StoppedBefore:
            return _without("stopped", "It was stopped before it had started.")
        except Interrupted:
            return _without("interrupted", INTERRUPTED)
        except FileRefused as refused:
            return _without("not_started", f"{str(refused).rstrip('.')}.")
        except KernelError as error:
            return _without("not_started", f"{kernel.in_words(error).rstrip('.')}.")
        text.end()
        return _told(order, outcome)

    @asynccontextmanager
    async def _entered(self, order: CommandOrder) -> AsyncIterator["_Entering"]:
        entering = _Entering(order)
        try:
            with trio.move_on_after(SECONDS):
                await trio.to_thread.run_sync(
                    entering.enter,
                    thread_name=f"entering {order.root}",
                    abandon_on_cancel=True,
                    limiter=self._threads,
                )
            if entering.folder is None:
                raise FileRefused(f"The disk of {order.root} does not answer.")
            yield entering
        finally:
            entering.leave()

    async def _git_settings(self, order: CommandOrder, entered: "_Entering", stop: StopSign) -> Mapping[str, str]:
        if not entered.in_repository:
            return {}
        bounds = Bounds(wall_seconds=PROBE_SECONDS, output_bytes=CONFIGURATION_BYTES)
        look_up = Command(LOOK_UP, Path(order.root), self.environment(order), bounds=bounds, folder=entered.folder)
        try:
            outcome = await self._runner.run(look_up, stop=stop)
        except StoppedBefore:
            raise
        except NotStarted:  # there is no git
            return {}
        if outcome.stopped_for == "asked":
            raise StoppedBefore("it was stopped before it had started")
        if outcome.stopped_for is not None or outcome.stdout.lost:
            raise FileRefused("The configuration of the repository is too large, or cannot be read.")
        return without_diff_drivers(outcome.stdout.head)

    async def _can_confine(self) -> bool:
        """Raises a KernelError if it cannot be found out just now."""
        async with self._probing:
            if self._confines is None:
                self._confines = await self._tried()
        return self._confines

    async def _tried(self) -> bool:
        bounds = Bounds(wall_seconds=PROBE_SECONDS)
        try:
            outcome = await self._runner.run(Command(PROBE, Path("/"), {}, bounds=bounds, offline=True))
        except NotKeptOffline:
            return False
        names = [line.partition(b":")[0].strip() for line in outcome.stdout.head.splitlines()[2:]]
        return outcome.end == Exited(0) and set(names) <= {b"lo"}


class _Entering:
    """Opens a folder in a thread that may be given up. Nobody is left with a descriptor that nobody closes."""

    def __init__(self, order: CommandOrder) -> None:
        self._order = order
        self._lock = Lock()
        self._left = False
        self.folder: int | None = None
        self.in_repository = False

    def enter(self) -> None:
        names = tree_names(self._order.folder)
        try:
            with Rooted(Path(self._order.root), firm=True).folder(names) as here:
                opened = os.dup(here)
        except OSError as error:
            raise refused_read("/".join(names) or "The workspace's folder", error) from None
        self.in_repository = is_in_repository(opened)
        with self._lock:
            if not self._left:
                self.folder = opened
                return
        os.close(opened)

    def leave(self) -> None:
        with self._lock:
            self._left = True
        if self.folder is not None:
            os.close(self.folder)


# -- in words

INTERRUPTED = "It was interrupted, because the program that runs commands had ended. Nothing of it is left."


def _bounds(order: CommandOrder) -> Bounds:
    return Bounds(
        wall_seconds=order.seconds,
        memory_bytes=_memory_bytes(),
        processes=PROCESSES,
        output_bytes=order.output_bytes,
        stderr_bytes=order.output_bytes,
        flood_bytes=FLOOD_BYTES,
        may_hide=True,
    )


def _memory_bytes() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE)


def _without(ended: Ending, why: str) -> CommandOutcome:
    return CommandOutcome(ended, None, why, 0.0, "", "")


def _told(order: CommandOrder, outcome: Outcome) -> CommandOutcome:
    ended: Ending
    match outcome:
        case Outcome(stopped_for=str() as excess):
            ended, why = "stopped", _why(excess, order)
        case Outcome(end=Exited()):
            ended, why = "exited", ""
        case Outcome(end=Signalled(number)):
            ended, why = "signalled", f"It was ended by the signal {_signal(number)}."
    exit_code = outcome.exit_code if ended == "exited" else None
    stdout, stderr = kept_text(outcome.stdout), kept_text(outcome.stderr)
    return CommandOutcome(ended, exit_code, why, outcome.wall_seconds, stdout, stderr)


def _why(excess: Excess, order: CommandOrder) -> str:
    match excess:
        case "asked":
            return "It was stopped."
        case "wall":
            return f"It was stopped, because it took longer than {lasting(order.seconds)}."
        case "memory":
            return f"It was stopped, because it used more than {_memory_bytes() / 2**30:.1f} GiB of memory."
        case "processes":
            return f"It was stopped, because it had more than {PROCESSES:,} processes at once."
        case "output":
            return f"It was stopped, because it wrote more than {FLOOD_BYTES // MIB} MiB to one of its outputs."
        case _:
            return f"It was stopped for a limit that it exceeded ({excess})."


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return str(number)
