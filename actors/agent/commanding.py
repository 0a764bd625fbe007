"""A command of a turn: an actor of its own, which ends when nothing of the command is left.

    turn's task ── run_command ──> CommandRun ── Commands.run ──> its keeper
                        <── pieces of its output, the outcome ──

    what ends it                          how
    the command itself                    the outcome comes
    the turn's task gives up the wait     `stop` is set
    the turn's actor ends                 `stop` is set
    the tree stops, or somebody stops it  `stop` is set

A turn's task is gone in a moment when the turn is cancelled, and cannot wait for a command that it has started. This
actor can: it ends only after the outcome has come, which is when nothing is left. So to say "cancelled", a session
waits for the turn's actor, and then for its commands (`commands_ended`), whose names contain the turn's id.

Rules
  - A command that is stopped before it has begun never begins.
  - Output is reported by the turn's own task, at most 20 pieces a second, and bounded (command_pieces.py). However
    slowly it is heard, the command is never held up, and nothing piles up here.
  - If this actor is killed, its run is cancelled, and the keeper ends the command all the same. But then nobody can say
    when.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Never

import trio

from actors.agent.command_pieces import CommandPieces
from actors.agent.given import CommandOrder, CommandOutcome, Commands
from actors.kernel import (
    Actor,
    AnyRef,
    AnySpec,
    Children,
    ChildSpec,
    Down,
    KernelError,
    Key,
    Registry,
    Restart,
    Stop,
    crowd_spec,
    in_words,
)
from codec.agent.action_events import StreamName

MOST_COMMANDS = 64
"""As many as a launcher runs at once."""
GRACE_SECONDS = 30.0
"""A keeper has some seconds to end what does not want to end; a launcher that was killed has to be started anew."""
PIECE_SECONDS = 0.05

COMMANDS = Key[Children[Never]]("agent/commands")

SaidPiece = Callable[[StreamName, str], Awaitable[object]]


class CommandLife:
    """What a command and the task that waits for it share."""

    def __init__(self, order: CommandOrder) -> None:
        self.order = order
        self.stop = trio.Event()
        self.over = trio.Event()
        self.outcome: CommandOutcome | None = None
        """Once it is over. None: whoever ran it was killed, or has failed."""
        self.pieces = CommandPieces()
        self.news = trio.Event()
        """Set while there is something to tell, and when it is over."""

    def hear(self, stream: StreamName, text: str) -> None:
        self.pieces.take(stream, text)
        if self.pieces.waiting:
            self.news.set()

    def end(self, outcome: CommandOutcome | None) -> None:
        self.outcome = outcome
        self.over.set()
        self.news.set()


class CommandRun(Actor[Never]):
    def __init__(self, turn: AnyRef, life: CommandLife, commands: Commands) -> None:
        self._turn = turn
        self._life = life
        self._commands = commands

    @property
    def called(self) -> str:
        command = self._life.order.command
        return (command if isinstance(command, str) else " ".join(command))[:60]

    async def started(self, kept: object | None) -> None:
        self.monitor(self._turn)
        self.run_beside(self._live)

    async def down(self, down: Down) -> None:
        self._life.stop.set()

    async def stopping(self, stop: Stop) -> None:
        self._life.stop.set()
        await self._life.over.wait()

    async def _live(self) -> None:
        life = self._life
        outcome: CommandOutcome | None = None
        try:
            if life.stop.is_set() or not self._turn.alive:
                outcome = CommandOutcome("stopped", None, "It was stopped before it had started.", 0.0, "", "")
            else:
                outcome = await self._commands.run(life.order, life.hear, life.stop)
        finally:
            life.end(outcome)
        self.finish()


def command_spec(command_id: str, turn: AnyRef, life: CommandLife, commands: Commands) -> ChildSpec[Never]:
    """A child of the crowd COMMANDS."""
    make = partial(CommandRun, turn, life, commands)
    return ChildSpec(command_id, make, restart=Restart.TEMPORARY, grace=GRACE_SECONDS)


def commands_specs() -> list[AnySpec]:
    """What commands need of the tree, after the launcher and before the turns: they outlive these."""
    return [crowd_spec("commands", name=COMMANDS, max_children=MOST_COMMANDS)]


async def run_command(
    registry: Registry,
    turn: AnyRef,
    command_id: str,
    order: CommandOrder,
    said: SaidPiece,
    *,
    commands: Commands,
) -> CommandOutcome:
    """For a turn's task: runs the command, and awaits `said` with its output. `command_id`: TURN_ID-cN. If the
    caller gives up the wait, at any moment, that asks the command to stop; `commands_ended` tells when it has."""
    life = CommandLife(order)
    try:
        try:
            await registry.get(COMMANDS).start_child(command_spec(command_id, turn, life, commands))
        except KernelError as error:
            why = f"It could not be started: {in_words(error).rstrip('.')}."
            return CommandOutcome("not_started", None, why, 0.0, "", "")
        await _tell(life, said)
    finally:
        life.stop.set()
    if life.outcome is None:
        return CommandOutcome("interrupted", None, "It was interrupted by a failure of the server.", 0.0, "", "")
    return life.outcome


async def _tell(life: CommandLife, said: SaidPiece) -> None:
    """Until it is over and all of its output is told."""
    while not life.over.is_set() or life.pieces.waiting:
        await life.news.wait()
        if not life.over.is_set():
            life.news = trio.Event()
        pieces = life.pieces.pending()
        for stream, text in pieces:
            await said(stream, text)
        with trio.move_on_after(PIECE_SECONDS * len(pieces)):
            await life.over.wait()
    for stream, text in life.pieces.rest():
        await said(stream, text)


async def commands_ended(registry: Registry, turn_id: str) -> None:
    """Stops all commands of a turn that has ended, and waits until nothing of them is left."""
    while (crowd := registry.find(COMMANDS)) is not None:
        own = [child for child in crowd.children() if child.path.rpartition("/")[2].startswith(f"{turn_id}-c")]
        if not own:
            return
        for child in own:
            await child.stop()
