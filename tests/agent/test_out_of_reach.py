"""A client whose session cannot be had: how long it asks, and what the editor is told."""

import math
from functools import partial
from itertools import count

import pytest
import trio

from actors.agent.client import AGAIN_SECONDS, GIVE_UP_SECONDS
from actors.agent.messages import CLIENTS, SESSIONS, SessionsMessage, WakeSession
from actors.kernel import Actor, AnySpec, ChildSpec, crowd_spec
from actors.kernel.testing import run_in_virtual_time, staged
from actors.store import StoreError
from tests.agent.paper_store import PaperDisk
from tests.agent.session_kit import Screen, Stay


class LostSessions(Actor[SessionsMessage]):
    """For so many seconds the disk fails; and then there is no such session."""

    def __init__(self, seconds: float) -> None:
        self._until = seconds

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(SESSIONS, self.ref)

    async def handle(self, message: SessionsMessage) -> None:
        assert isinstance(message, WakeSession)
        if trio.current_time() < self._until:
            message.reply.fail(StoreError("the disk fails"))
        else:
            message.reply.set(None)


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (GIVE_UP_SECONDS, "There is no such session."),
        (math.inf, "The session cannot be opened: the disk fails."),
    ],
)
def test_a_session_is_asked_for_for_a_minute_and_then_said_to_be_out_of_reach(seconds: float, says: str) -> None:
    async def main() -> None:
        specs: list[AnySpec] = [
            ChildSpec("sessions", partial(LostSessions, seconds)),
            crowd_spec("clients", name=CLIENTS),
        ]
        async with trio.open_nursery() as nursery, staged(*specs) as house:
            here, ann = Stay(PaperDisk(), lambda order: [], count(1), house=house, nursery=nursery), Screen("ann")
            began = trio.current_time()
            await here.connect(ann, "s")
            await ann.ended.wait()
            assert GIVE_UP_SECONDS <= trio.current_time() - began < GIVE_UP_SECONDS + AGAIN_SECONDS
            assert ann.reasons[-1] == says
            nursery.cancel_scope.cancel()

    run_in_virtual_time(main)
