"""Questions to an index: each is answered beside the mailbox, within the policy and a deadline, and a limited number
run at once. The search for an asker that has given up stops.

Much may have changed while nobody watched the folder: the server was away, or the index slept. So a question waits a
moment for the comparison with the disk that has just begun. An answer that comes before its end says so.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import trio
from msgspec.structs import replace

from actors.agent.index.given import IndexTrouble, WorkspaceIndex
from actors.agent.index.messages import Find
from actors.agent.messages import WORKSPACES, PolicyAsked
from actors.agent.readable import is_readable
from actors.kernel import Actor, KernelError, Reply, in_words
from actors.store import StoreError
from codec.agent.index.asking import IndexFindings
from codec.agent.workspaces import Policy

FIND_SECONDS = 10.0
COMPARE_SECONDS = 1.0
"""That a question waits for the comparison."""
MOST_AT_ONCE = 64
COMPARING = "What has changed here lately is still being looked for, so something may be missing."


class IndexQuestions:
    def __init__(
        self,
        actor: Actor[Any],
        index: WorkspaceIndex,
        workspace_id: str,
        incomplete: Callable[[], None],
        other_vectors: Callable[[], None],
    ) -> None:
        """`incomplete`, `other_vectors`: are called when a question has found an index that lacks something, or whose
        vectors are another model's."""
        self._actor = actor
        self._incomplete = incomplete
        self._other_vectors = other_vectors
        self._index = index
        self._workspace_id = workspace_id
        self._count = 0
        self._trouble = ""
        self._compared = trio.Event()

    def __len__(self) -> int:
        return self._count

    def ask(self, question: Find) -> None:
        if self._count >= MOST_AT_ONCE:
            question.reply.fail(IndexTrouble("Too many searches run at once. Try again in a moment."))
            return
        self._count += 1
        self._actor.run_beside(self._find, question)

    def opened(self, *, complete: bool) -> None:
        """The index is as it was kept. One that is not complete is being made: nobody waits for that."""
        self._trouble = ""
        if not complete:
            self._compared.set()
        elif self._compared.is_set():
            self._compared = trio.Event()

    def compared(self, trouble: str = "") -> None:
        """The index is as the disk; or, for this reason, it will not be so soon."""
        self._trouble = trouble
        self._compared.set()

    def _behind(self) -> str:
        if not self._compared.is_set():
            return COMPARING
        return f"This may not be as the disk is now. {self._trouble}" if self._trouble else ""

    async def _find(self, question: Find) -> None:
        reply = question.reply
        with trio.CancelScope() as scope:
            reply.on_abandon(scope.cancel)
            try:
                with trio.fail_after(FIND_SECONDS):
                    policy = question.policy or await self._policy()
                    with trio.move_on_after(COMPARE_SECONDS):
                        await self._compared.wait()
                    behind = self._behind()
                    found = replace(await self._index.find(question.query, partial(is_readable, policy)), behind=behind)
            except IndexTrouble as trouble:
                _fail(reply, trouble)
            except trio.TooSlowError:
                _fail(reply, IndexTrouble("The search took too long and was given up. Ask for less at once."))
            except (KernelError, StoreError) as error:
                _fail(reply, IndexTrouble(f"The policy of this workspace cannot be read now: {in_words(error)}."))
            else:
                if reply.wanted:
                    reply.set(found)
                if not found.complete:
                    self._incomplete()
                if found.other_vectors:
                    self._other_vectors()
        self._count -= 1

    async def _policy(self) -> Policy:
        asked = partial(PolicyAsked, self._workspace_id)
        policy: Policy | None = await self._actor.stage.registry.get(WORKSPACES).ask(asked, timeout=FIND_SECONDS)
        if policy is None:
            raise IndexTrouble("There is no such workspace any more.")
        return policy


def _fail(reply: Reply[IndexFindings], error: Exception) -> None:
    if reply.wanted:
        reply.fail(error)
