"""Questions to an index: each is answered beside the mailbox, within the policy and a deadline, and a limited number
run at once. The search for an asker that has given up stops."""

from collections.abc import Callable
from functools import partial
from typing import Any

import trio
from msgspec.structs import replace

from actors.agent.index.catching_up import CatchingUp
from actors.agent.index.given import IndexTrouble, WorkspaceIndex
from actors.agent.index.messages import Find
from actors.agent.messages import WORKSPACES, PolicyAsked
from actors.agent.readable import is_readable
from actors.kernel import Actor, KernelError, Reply, in_words
from actors.store import StoreError
from codec.agent.index.asking import IndexFindings
from codec.agent.workspaces import Policy

FIND_SECONDS = 10.0
MOST_AT_ONCE = 64


class IndexQuestions:
    def __init__(
        self,
        actor: Actor[Any],
        index: WorkspaceIndex,
        workspace_id: str,
        catching_up: CatchingUp,
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
        self._catching_up = catching_up
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def ask(self, question: Find) -> None:
        if self._count >= MOST_AT_ONCE:
            question.reply.fail(IndexTrouble("Too many searches run at once. Try again in a moment."))
            return
        self._count += 1
        self._actor.run_beside(self._find, question)

    async def _find(self, question: Find) -> None:
        reply = question.reply
        with trio.CancelScope() as scope:
            reply.on_abandon(scope.cancel)
            try:
                with trio.fail_after(FIND_SECONDS):
                    policy = question.policy or await self._policy()
                    behind = await self._catching_up.behind()
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
