"""Calls that act: the way from a call to what the model is told of it.

    call ─> the policy's verdict ─┬─ deny ─> it fails with the rule's sentence; POLICY_VIOLATION
                                  ├─ ask ──> the request, kept and told; the turn waits ─> refused, or:
                                  └─ allow ─────────────────────────────────────────────> done, kept, told

Rules
  - Nothing is done that the policy denies, whatever a person has answered, and nothing in mode plan.
  - Whatever is done is in the log as begun before it is done; its end, what is told of it, and the end of its requests
    are one commit. A turn that is not heard any more begins nothing.
  - A request that was made before the server ended is acted upon in the same way (`resumed`).

    asking.py    requests and their answers      changing.py, replacing.py    files
    outcomes.py  what becomes of a call          running.py                   commands
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from actors.agent.asking import Answers, Dealings
from actors.agent.changing import FileCalls
from actors.agent.given import Commands, FileRefused, Hands, Tree
from actors.agent.hand_tools import DeleteFile, ExecuteCommand, ProposeDiff, WriteFile
from actors.agent.images import Images as SessionImages
from actors.agent.messages import TurnMessage, TurnOrder
from actors.agent.outcomes import CallOutcome, failed
from actors.agent.replacing import Images
from actors.agent.rights import LookAtRights, same_rights
from actors.agent.running import CommandCalls
from actors.agent.saying import Voice
from actors.agent.tools import BadCall
from actors.kernel import ActorRef, Registry
from actors.store import StoreError
from codec.agent.approvals import Pending

UNKEPT = "The files as they are cannot be kept at the moment, and so nothing is done with them: {}."


class ActingMeans(Struct, frozen=True):
    """With what turns act."""

    commands: Callable[[Registry], Commands]
    images: Callable[[Registry, str], Images] = SessionImages
    """The images of files of a session."""
    rights: LookAtRights = same_rights
    wall: Callable[[], float] = time.time
    """Seconds since 1970."""


class Acting:
    """The hands of one turn."""

    def __init__(self, dealings: Dealings, changing: FileCalls, running: CommandCalls) -> None:
        self.dealings = dealings
        self._changing = changing
        self._running = running

    async def begin(self) -> None:
        """The turn begins. (One that goes on does not.)"""
        await self._running.begin()

    async def call(self, call_id: str, tool_name: str, wanted: Struct) -> CallOutcome:
        """Raises BadCall, FileRefused or NotHeard."""
        try:
            match wanted:
                case ProposeDiff() | WriteFile() | DeleteFile():
                    return await self._changing.change(call_id, tool_name, wanted)
                case ExecuteCommand():
                    return await self._running.execute(call_id, wanted)
        except StoreError as error:
            raise BadCall(UNKEPT.format(error)) from None
        raise AssertionError(f"{tool_name} has no hands")

    async def resumed(self, requests: Sequence[Pending]) -> CallOutcome:
        """Acts upon the answers to the requests of one call. Raises NotHeard."""
        first, over = requests[0], [request.request_id for request in requests]
        try:
            if first.tool_name == "execute_command":
                return await self._running.resumed(first)
            return await self._changing.resumed(requests)
        except (BadCall, FileRefused) as error:
            return failed(str(error), over)
        except StoreError as error:
            return failed(UNKEPT.format(error), over)


def hands_of(
    means: ActingMeans,
    order: TurnOrder,
    registry: Registry,
    turn: ActorRef[TurnMessage],
    voice: Voice,
    answers: Answers,
    tree: Tree,
    hands: Hands,
) -> Acting:
    dealings = Dealings(order, voice, answers, partial(means.rights, registry, order), means.wall)
    changing = FileCalls(order, dealings, voice, hands, means.images(registry, order.fact.id))
    running = CommandCalls(order, dealings, voice, tree, means.commands(registry), registry, turn)
    return Acting(dealings, changing, running)
