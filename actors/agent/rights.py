"""What a turn may do now: the policy, the session's mode and the remembered approvals, as they are at this moment.

A turn lasts, and waits for people. So it looks again before each call that acts, and once more when it has its answer.
Then a call that was forbidden meanwhile is not done, and an approval that was remembered meanwhile holds.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec import Struct

from actors.agent.messages import (
    SESSIONS,
    WORKSPACES,
    PolicyAsked,
    RememberedAsked,
    SessionAsked,
    TurnOrder,
)
from actors.agent.tools import BadCall
from actors.kernel import KernelError, Registry, in_words
from actors.store import StoreError
from codec.agent.approvals import Remembered
from codec.agent.sessions import SessionMode
from codec.agent.workspaces import Policy

PATIENCE = 10.0


class Rights(Struct, frozen=True):
    policy: Policy
    mode: SessionMode
    remembered: Sequence[Remembered]


LookAtRights = Callable[[Registry, TurnOrder], Awaitable[Rights]]


def rights_at_first(order: TurnOrder) -> Rights:
    return Rights(order.policy, order.fact.mode, order.remembered)


async def same_rights(registry: Registry, order: TurnOrder) -> Rights:
    """Nobody changes it."""
    return rights_at_first(order)


async def current_rights(registry: Registry, order: TurnOrder) -> Rights:
    """Raises BadCall if it cannot be told now: then nothing is done."""
    workspace, session = order.fact.workspace_id, order.fact.id
    try:
        workspaces, sessions = registry.get(WORKSPACES), registry.get(SESSIONS)
        policy = await workspaces.ask(partial(PolicyAsked, workspace), timeout=PATIENCE)
        there = await workspaces.ask(partial(RememberedAsked, workspace), timeout=PATIENCE)
        fact = await sessions.ask(partial(SessionAsked, session), timeout=PATIENCE)
        here = await order.session.ask(partial(RememberedAsked, session), timeout=PATIENCE)
    except (KernelError, StoreError) as error:
        raise BadCall(f"what is allowed cannot be looked up now ({in_words(error)})") from error
    if policy is None or fact is None:
        raise BadCall("the workspace of this session is not registered any more")
    remembered = [*(() if here is None else here.approvals), *(() if there is None else there.approvals)]
    return Rights(policy, fact.mode, remembered)
