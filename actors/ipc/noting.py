"""What the ledger and the evaluator are told: new facts, gathered, a few messages a second at most.

Neither has to be there. An actor that starts later reads the journal, so a fact that nobody heard is not lost.
"""

from collections.abc import Iterable
from contextlib import suppress

import trio

from actors.ipc.dossier import Dossier
from actors.ipc.messages import EVALUATOR, LEDGER, Forgotten, Noted, Succeeded
from actors.kernel import KernelError, Registry
from codec.ipc import BadRequest, Success, read_request
from codec.ipc.desk import RequestFact

APART_SECONDS = 0.2
MOST = 1_000
"""Facts of one message."""


class Noting:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._facts: dict[str, RequestFact | None] = {}
        """None: it is to be forgotten."""
        self._wanted = trio.Event()

    def changed(self, dossier: Dossier) -> None:
        self._facts[dossier.id] = dossier.fact
        self._wanted.set()

    def forgotten(self, ids: Iterable[str]) -> None:
        self._facts.update(dict.fromkeys(ids))
        self._wanted.set()

    def succeeded(self, dossier: Dossier) -> None:
        evaluator = self._registry.find(EVALUATOR) if dossier.referenced else None
        outcome = dossier.tried[-1].outcome if dossier.tried else None
        if evaluator is None or not isinstance(outcome, Success):
            return
        with suppress(BadRequest, KernelError):  # one that is too busy misses it, and the folder still has it
            request = read_request(dossier.content, dossier.id)
            evaluator.tell(Succeeded(request, outcome, dossier.tried[-1].seconds))

    async def serve(self) -> None:
        """Runs beside the client end."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            self.flush()
            await trio.sleep(APART_SECONDS)

    def flush(self) -> None:
        facts, self._facts = self._facts, {}
        ledger = self._registry.find(LEDGER)
        if ledger is None:
            return
        known = [fact for fact in facts.values() if fact is not None]
        gone = [id for id, fact in facts.items() if fact is None]  # noqa: A001 - as in the contract
        try:
            for start in range(0, len(known), MOST):
                ledger.tell(Noted(known[start : start + MOST]))
            if gone:
                ledger.tell(Forgotten(gone))
        except KernelError:  # it cannot take so many now: once more, but for what has changed again
            self._facts = {**facts, **self._facts}
            self._wanted.set()
