"""A session's door to undo and redo (undoing.py). No turn begins while files are put back, and none is undone while
another runs or waits for an answer.

The same undo may be asked for again without harm. So if a server ends in the middle of it, a part is done, and the same
request does the rest.
"""

from collections.abc import Callable
from typing import Any

import trio

from actors.agent.given import FileRefused
from actors.agent.means import TurnMeans, UndoOrder
from actors.agent.messages import UndoTurn
from actors.agent.record import SessionRecord
from actors.agent.stored import fail
from actors.agent.turn_keeping import TurnKeeping
from actors.agent.undo_plans import undone_after
from actors.kernel import Actor, KernelError, in_words
from actors.store import StoreError
from codec.agent.action_events import TurnUndone
from codec.agent.refusing import ContractRefusal

MOST_UNDONE = 1000
"""Turns that are kept as undone."""
CLOSING_SECONDS = 10.0
"""An undo that comes with a turn's last word waits so long until nothing of the turn is left."""
UNDER_WAY = "A turn is under way. Cancel it, or wait for its end."


class TakingBack:
    def __init__(
        self,
        session: Actor[Any],
        record: SessionRecord,
        means: TurnMeans,
        turn: TurnKeeping,
        over: Callable[[], None],
    ) -> None:
        """`over` is called when it is done."""
        self._session = session
        self._record = record
        self._means = means
        self._turn = turn
        self._over = over
        self.under_way = False

    def take_back(self, message: UndoTurn) -> None:
        refused = self._why_not()
        if refused is not None:
            message.reply.fail(refused)
            return
        self.under_way = True
        self._session.run_beside(self._undo, message)

    def _why_not(self) -> ContractRefusal | None:
        trouble = self._record.writing.trouble
        if self.under_way:
            return _busy("Another turn is being undone. Try again in a moment.")
        if trouble is not None:
            return ContractRefusal(503, "INTERNAL", f"Nothing was changed, because it cannot be kept: {trouble}.")
        if self._means.undo is None:
            return ContractRefusal(503, "INTERNAL", "This server cannot undo.")
        return None

    async def _undo(self, message: UndoTurn) -> None:
        taken_back, record, reply = self._means.undo, self._record, message.reply
        assert taken_back is not None
        registry = self._session.stage.registry
        with trio.move_on_after(CLOSING_SECONDS):
            await self._turn.closed()
        if not self._turn.idle:
            fail(reply, _busy(UNDER_WAY))
            self.under_way = False
            self._over()
            return
        order = UndoOrder(registry, record.log, record.row, message.wish, message.redo, message.by, self._keep)
        try:
            report = await taken_back(order)
        except (KernelError, StoreError, FileRefused) as error:
            fail(reply, ContractRefusal(503, "INTERNAL", f"This cannot be undone now: {in_words(error)}"))
        except ContractRefusal as refusal:
            fail(reply, refusal)
        else:
            record.writing.promise(reply, report)
        finally:
            self.under_way = False
        self._over()

    async def _keep(self, event: TurnUndone) -> None:
        record, kept = self._record, trio.Event()
        record.say(event)
        undone = undone_after(record.row.undone, event)[-MOST_UNDONE:]
        if undone != record.row.undone:
            record.change(undone=undone)
        record.writing.then(kept.set)
        await kept.wait()


def _busy(why: str) -> ContractRefusal:
    return ContractRefusal(409, "BUSY", why)
