"""What changes in what is allowed stands in the log of every session of the workspace: once, in order, whether the
session was awake, asleep, or killed."""

from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.agent.audited import sessions_told
from actors.agent.client import ServerFacts
from actors.agent.desk import AgentDesk
from actors.agent.messages import ChangeSession
from actors.agent.session import REST_SECONDS
from actors.kernel import ChildSpec
from actors.kernel.testing import run_in_virtual_time
from actors.store import STORE, StoreClient, StoreError, StoreMessage
from actors.store.messages import Ask
from actors.store.operations import Read
from codec.agent.approvals import Remembered
from codec.agent.audit import AUDIT, ApprovalForgotten, ApprovalRemembered, AuditEvent, PolicyAudited
from codec.agent.sessions import SessionChange
from codec.agent.workspaces import Policy, PolicyChange
from tests.agent.paper_store import PaperDisk, PaperStore
from tests.agent.session_kit import Asks, Screen, Stay, patch, stay, until
from tests.plenty import plenty

PYTEST = Remembered(id="a1", kind="command", argv=("pytest",), by="ann")
KINDS: list[AuditEvent] = [
    PolicyAudited(at=1.0, by="::1", change=PolicyChange(network_enabled=True), before=Policy()),
    ApprovalRemembered(at=2.0, by="ann", approval=PYTEST),
    ApprovalForgotten(at=3.0, by="::1", approval=PYTEST),
]
NAMES = ["policy.changed", "approval.remembered", "approval.forgotten"]


async def happens(here: Stay, *which: int) -> None:
    """In the workspace, as its actor does it."""
    if not which:
        return
    store = StoreClient(here.registry.get(STORE))
    with sessions_told(here.registry, "w"):
        await store.append(f"{AUDIT}w", [msgspec.json.encode(KINDS[each]) for each in which])


async def told(here: Stay, id: str) -> list[dict[str, Any]]:  # noqa: A002
    """Over HTTP."""
    desk = AgentDesk(here.registry, here.new_id, ServerFacts("0.0.0"))
    page = msgspec.json.decode(await desk.events(id, 0, 1000))
    assert [each["seq"] for each in page["events"]] == sorted({each["seq"] for each in page["events"]})
    return [each for each in page["events"] if each["type"] in (*NAMES, "mode.changed")]


MOMENTS = st.sampled_from(["look", "sleep", "kill", "stay"])


@pytest.mark.slow
@settings(deadline=None, max_examples=plenty(15))
@given(st.lists(st.tuples(st.lists(st.integers(0, 2), max_size=3), MOMENTS), max_size=6))
@example([([0], "kill"), ([1, 2], "sleep"), ([0], "look"), ([], "kill")])
def test_every_session_tells_each_change_since_it_was_made_once_and_in_order(story: list[Any]) -> None:
    async def playing() -> None:
        disk = PaperDisk()
        sofar: list[int] = []
        made: dict[str, int] = {}
        """Sessions, and how much had happened before each was made."""
        count: Any = None
        for which, moment in [([1], "kill"), *story, ([], "look")]:
            async with stay(disk, ids=count) as here:
                await happens(here, *which[:1])
                made[(await here.create()).id] = len(sofar) + len(which[:1])
                await happens(here, *which[1:])
                sofar += which
                if moment == "sleep":
                    await trio.sleep(REST_SECONDS + 1)
                if moment == "look":
                    for session, before in made.items():
                        seen = [each["type"] for each in await told(here, session)]
                        assert seen == [NAMES[each] for each in sofar[before:]]
                disk, count = PaperDisk(here.disk.paper.copy()), here.ids

    run_in_virtual_time(playing)


def test_who_is_there_sees_it_when_it_happens_and_the_turn_goes_on() -> None:
    async def playing() -> None:
        async with stay(script=[Asks((patch("p1"),))]) as here:
            fact = await here.create()
            ann, bob = Screen("ann"), Screen("bob")
            await here.connect(ann, fact.id)
            await here.connect(bob, fact.id)
            await ann.ask("go")
            await until(lambda: bob.of("patch.proposed"))
            await happens(here, 0)
            await until(lambda: ann.of("policy.changed") and bob.of("policy.changed"))
            (event,) = bob.of("policy.changed")
            assert (event["change"], event["by"]) == ({"network_enabled": True}, "::1")
            await ann.answer("p1")
            await until(lambda: ann.of("assistant.message_final"))
            assert [each["seq"] for each in ann.events] == list(range(1, len(ann.events) + 1))

    run_in_virtual_time(playing)


def test_the_mode_of_a_session_is_told_when_it_changes_and_not_when_it_does_not() -> None:
    async def playing() -> None:
        async with stay() as here:
            fact = await here.create()
            for change in (SessionChange(mode="auto"), SessionChange(mode="auto"), SessionChange(title="other")):
                await here.ask(ChangeSession, fact.id, change)
            (event,) = await told(here, fact.id)
            assert (event["type"], event["before"], event["mode"]) == ("mode.changed", "ask", "auto")

    run_in_virtual_time(playing)


class Unreadable(PaperStore):
    """Audit logs cannot be read at first."""

    tries = 3

    async def handle(self, message: StoreMessage) -> None:
        if isinstance(message, Ask) and isinstance(message.job, Read) and message.job.stream == f"{AUDIT}w":
            self.tries -= 1
            if self.tries >= 0:
                message.reply.fail(StoreError("the disk does not answer"))
                return
        await super().handle(message)


def test_what_cannot_be_looked_up_now_is_told_as_soon_as_it_can() -> None:
    async def playing() -> None:
        disk = PaperDisk()
        async with stay(disk, store=ChildSpec("store", partial(Unreadable, disk))) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await happens(here, 1)
            await until(lambda: ann.of("approval.remembered"))
            assert [each["seq"] for each in ann.events] == [1]

    run_in_virtual_time(playing)


def test_an_entry_that_cannot_be_read_keeps_none_of_the_others_back() -> None:
    async def playing() -> None:
        async with stay() as here:
            fact = await here.create()
            await StoreClient(here.registry.get(STORE)).append(f"{AUDIT}w", [b"{", b'{"type":"of a later version"}'])
            await happens(here, 2)
            assert [each["type"] for each in await told(here, fact.id)] == ["approval.forgotten"]

    run_in_virtual_time(playing)
