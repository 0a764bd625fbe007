"""The vectors of an index, filled in beside its updates. There is one filling at a time. It runs again when an update
has come meanwhile, and after longer and longer times when the embedding model fails."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from actors.agent.index.given import IndexTrouble, WorkspaceIndex
from actors.kernel import Timer, growing_wait
from codec.agent.index.telling import IndexFacts

AGAIN_SECONDS, LONGEST_AGAIN = 5.0, 300.0


class TasksBeside(Protocol):
    def run_beside(self, task: Callable[[], Awaitable[object]], /) -> None: ...


class Embedding:
    def __init__(
        self,
        actor: TasksBeside,
        index: WorkspaceIndex,
        said: Callable[[IndexFacts | None], None],
        later: Callable[[float], Timer],
    ) -> None:
        """`said`: how far it is, or that there is a trouble, or none any more. `later`: `again` is called then."""
        self._actor = actor
        self._index = index
        self._said = said
        self._later = later
        self.runs = False
        self.trouble = ""
        self._wanted = False
        self._waits: Timer | None = None
        self._failures = 0
        self._vectors = 0
        """As last heard: with more of them, the model does not fail any more."""

    def want(self) -> None:
        """There may be vectors missing. While the model fails, it is not asked any sooner."""
        self._wanted = True
        if not self.runs and self._waits is None:
            self.runs = True
            self._actor.run_beside(self._run)

    def forget_failures(self) -> None:
        """Somebody has asked for everything, maybe because the server was put right: it is asked as if it had never
        failed."""
        self._failures = 0
        if self._waits is not None:
            self._waits.cancel()
            self.again()

    def again(self) -> None:
        self._waits = None
        self.want()

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                facts = await self._index.embed(self._heard)
                if facts is not None:
                    self._well(facts)
        except IndexTrouble as trouble:
            self.runs = False
            self.trouble = str(trouble)
            self._waits = self._later(growing_wait(AGAIN_SECONDS, self._failures, LONGEST_AGAIN))
            self._failures += 1
            self._said(None)
        else:
            self.runs = False

    def _heard(self, facts: IndexFacts) -> None:
        if facts.vectors > self._vectors:
            self._well(facts)
        else:
            self._vectors = facts.vectors
            self._said(facts)

    def _well(self, facts: IndexFacts) -> None:
        self._vectors = facts.vectors
        self.trouble, self._failures = "", 0
        self._said(facts)
