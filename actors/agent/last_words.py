"""What a session says in a turn's place when nothing of that turn is left: which of its changes were done, which of its
commands have not ended, and the MessageFinal that the turn has not said."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from actors.agent.approving import Approvals
from actors.agent.half_done import HalfDone
from actors.agent.means import TurnMeans
from actors.agent.record import SessionRecord
from actors.agent.retelling import SoFar, timestamp
from actors.agent.turning import final
from actors.kernel import Actor
from codec.agent.action_events import CommandFinished, FileChanged
from codec.agent.kept import TurnMark
from codec.agent.sessions import SessionStatus

LEFT = "Its turn has ended, and nothing of it is left."


class LastWords:
    def __init__(self, session: Actor[Any], record: SessionRecord, means: TurnMeans, approvals: Approvals) -> None:
        self._session = session
        self._record = record
        self._means = means
        self._approvals = approvals
        self._half_done = HalfDone(record, means.files_now, lambda: session.stage.registry)

    async def look_at_files(self, so_far: SoFar, seconds: float) -> None:
        """Tells which changes that had only begun were done, or that nobody can tell it yet."""
        self._approvals.keep((), (), await self._half_done.tell(so_far, seconds))

    def look_again(self, so_far: SoFar) -> None:
        """At what nobody could tell, when the disk answers."""
        if so_far.unknown:
            self._session.run_beside(self._tell_later, tuple(so_far.unknown.values()))

    async def _tell_later(self, unknown: Sequence[FileChanged]) -> None:
        self._approvals.keep((), (), await self._half_done.tell_later(unknown))

    def say(self, mark: TurnMark, so_far: SoFar, *, cancelled: bool = False, interrupted: bool = False) -> None:
        self._approvals.cancel()
        for id in so_far.commands:  # noqa: A001 - as in the contract
            ended = CommandFinished(command_id=id, ended="cancelled" if cancelled else "interrupted", why=LEFT)
            self._record.say(ended)
        self._record.say(final(mark, so_far, self._means.wall(), cancelled=cancelled, interrupted=interrupted))
        self.are_said("cancelled" if cancelled else "error")

    def are_said(self, status: SessionStatus) -> None:
        """By the session, or by the turn itself."""
        record, now = self._record, timestamp(self._means.wall())
        record.change(turn=None, fact=replace(record.row.fact, running=False, status=status, updated_at=now))
