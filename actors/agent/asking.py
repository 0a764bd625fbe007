"""What a turn asks of people, and of the programs in which they work: approvals, and work that a client does itself.

    the turn's task ── TurnAsks ──> session ── the request ──> clients
    the turn's task <── Answers <── the turn's mailbox <── RequestSettled ── session

Rules
  - The time in which a turn waits for a person does not count as the turn's: its limits are extended by `waited`.
  - Whenever a turn waits for a client that does the work itself, it says so, and until when.
  - A request may be settled twice: by an approval, and then by the client's result. The later one counts.
  - What a turn wants kept is stored when `keep` returns. If the turn is not heard any more, it ends there (NotHeard),
    and does not do what it was about to do.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import trio

from actors.agent.messages import CapabilitiesAsked, TurnAsks, TurnKeeps, TurnOrder
from actors.agent.requests import TAKEN_BACK
from actors.agent.rights import Rights, rights_at_first
from actors.agent.saying import Voice
from actors.kernel import Reply
from codec.agent.approvals import Pending
from codec.agent.events import LogEvent
from codec.agent.policy import Verdict
from codec.agent.withheld import withheld
from codec.words import lasting

KEEPING_SECONDS = 60.0
CAPABILITIES_SECONDS = 10.0


class NotHeard(Exception):
    """The session takes nothing from this turn any more, and is about to stop it."""


class Answers:
    """The requests of a turn as they are settled."""

    def __init__(self) -> None:
        self._settled: dict[str, Pending | None] = {}
        """None: nobody has answered yet. What was not asked is not here."""
        self._waiting = trio.lowlevel.ParkingLot()

    def expect(self, requests: Iterable[str]) -> None:
        for request in requests:
            self._settled.setdefault(request, None)

    def settle(self, request: Pending) -> None:
        if request.request_id in self._settled:
            self._settled[request.request_id] = request
            self._waiting.unpark_all()

    async def of(self, id: str, enough: Callable[[Pending], bool]) -> Pending:  # noqa: A002
        while (found := self._settled[id]) is None or not enough(found):
            await self._waiting.park()
        return found

    def latest(self, request: Pending) -> Pending:
        """As it was settled last; if nobody has answered, the same."""
        return self._settled.get(request.request_id) or request


class Dealings:
    def __init__(
        self,
        order: TurnOrder,
        voice: Voice,
        answers: Answers,
        look: Callable[[], Awaitable[Rights]],
        wall: Callable[[], float],
    ) -> None:
        self.rights = rights_at_first(order)
        """As it was when it was looked at last."""
        self._look = look
        self._order = order
        self._voice = voice
        self._answers = answers
        self._wall = wall
        self.waited = 0.0
        """Seconds in which the turn has waited for people."""
        self._open: dict[str, None] = {}
        """The requests that are made, and not over."""

    async def look_again(self) -> None:
        """At what is allowed now. Raises BadCall."""
        self.rights = await self._look()

    async def capabilities(self) -> frozenset[str]:
        """What the clients can do that are attached now."""
        return await self._order.session.ask(CapabilitiesAsked, timeout=CAPABILITIES_SECONDS)

    async def begin(self, requests: Sequence[Pending]) -> None:
        ids = [request.request_id for request in requests]
        self._answers.expect(ids)
        self._open |= dict.fromkeys(ids)
        await self._order.session.send(TurnAsks(self._order.turn_id, tuple(requests)))

    async def settled(self, requests: Sequence[Pending]) -> list[Pending]:
        """The requests with their answers, however long these take."""
        began = trio.current_time()
        try:
            return [await self._answers.of(each.request_id, _is_settled) for each in requests]
        finally:
            self.waited += trio.current_time() - began

    async def results(self, requests: Sequence[Pending], seconds: float, awaited: str) -> list[Pending]:
        """The same requests with what a client did upon them, as far as it says so in that time and nobody takes them
        back from it. Who is silent about one takes nothing from what is said of the others. `awaited`: for what the
        turn waits, in words."""
        waits = f"Waiting for {awaited}, {lasting(seconds)} at most"
        await self._voice.thinking("executing", waits, self._wall() + seconds)
        ids = [request.request_id for request in requests]
        self._answers.expect(ids)
        began = trio.current_time()
        with trio.move_on_after(seconds):
            for id in ids:  # noqa: A001
                await self._answers.of(id, _is_awaited_no_longer)
        self.waited += trio.current_time() - began
        return [self._answers.latest(request) for request in requests]

    async def keep(
        self,
        events: Sequence[LogEvent],
        *,
        begun: Sequence[str] = (),
        over: Sequence[str] = (),
        applied: Sequence[str] = (),
    ) -> None:
        """Raises NotHeard, and then nothing is kept."""

        def message(reply: Reply[bool]) -> TurnKeeps:
            return TurnKeeps(self._order.turn_id, events, begun, over, applied, reply=reply)

        if not await self._order.session.ask(message, timeout=KEEPING_SECONDS):
            raise NotHeard
        for id in over:  # noqa: A001
            self._open.pop(id, None)

    def still_open(self, known: Sequence[str]) -> tuple[str, ...]:
        """These requests, and all others that are not over."""
        return tuple(dict.fromkeys((*known, *self._open)))

    async def violation(self, verdict: Verdict, tool_name: str, **about: str) -> None:
        """Clients are told that the policy has refused a call."""
        details: dict[str, Any] = {key: withheld(value) for key, value in about.items()}
        details |= {"rule": verdict.rule, "tool_name": tool_name}
        await self._voice.error("POLICY_VIOLATION", withheld(verdict.reason), **details)


def _is_settled(request: Pending) -> bool:
    return request.resolution is not None or request.result is not None


def _is_awaited_no_longer(request: Pending) -> bool:
    return request.result is not None or request.terminal in TAKEN_BACK
