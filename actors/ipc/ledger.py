"""The ledger knows a line of every request, and how the desk is: it answers windows, totals and details.

It holds nothing of its own. At its start it reads the journal in pages, and it is told of every change after the
journal has it. So it may crash, and is filled again.

Rules
  - A line that was told since the start is newer than any that is read from the journal.
  - Neither filling nor a search holds up the server: both are cut into turns of a few milliseconds at most.
  - What was found for a filter is kept until something changes: pages that look at the same are answered from it.
  - The folder is asked how it is every second, beside the mailbox; one that does not answer in time is in trouble.
"""

import logging
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.ipc.company import OURS, Company
from actors.ipc.ends import troubles_of_the_ends
from actors.ipc.figures import DeskCounts
from actors.ipc.given import Base, BaseHealth, Facts
from actors.ipc.lines import Lines
from actors.ipc.messages import (
    LEDGER,
    DeskTotalsAsked,
    DetailAsked,
    EditorNow,
    FiguresAsked,
    Forgotten,
    LedgerMessage,
    LedgerNews,
    LineAsked,
    NewsWanted,
    Noted,
    PeerNow,
    RunningNow,
    WindowAsked,
)
from actors.kernel import Actor, ActorRef, AnyRef, ChildSpec, Down, KernelError, Mailbox, Registry, Reply, in_words
from actors.store import StoreError
from codec.ipc.desk import Attempt, DeskTotals, RequestDetail, RequestFact, WindowWanted
from codec.ipc.ids import is_id

ASKED = 1_024
"""Messages that may wait. Whoever has more to tell has to wait."""
PART = 128
"""Lines that are put at a time."""
LOOK_SECONDS = 1.0
"""Between two looks at the folder."""
PATIENCE = 5.0
"""For one look."""
AGAIN_SECONDS = 1.0
"""After a journal that could not be read."""
MOST_KEPT = 16
"""Filters whose finds are kept."""

logger = logging.getLogger("troupe.ipc")

R = TypeVar("R")


class LinesRead(Struct, frozen=True):
    """From the journal."""

    facts: Sequence[RequestFact]
    last: bool


class LookedAtBase(Struct, frozen=True):
    health: BaseHealth


class BaseIsSilent(Struct, frozen=True):
    why: str
    """A sentence for users."""


Heard = LedgerMessage | LinesRead | LookedAtBase | BaseIsSilent


def ledger_spec(facts: Callable[[Registry], Facts], base: Base) -> ChildSpec[Heard]:
    return ChildSpec("ledger", partial(DeskLedger, facts, base), mailbox=partial(Mailbox, ASKED))


class DeskLedger(Actor[Heard]):
    def __init__(self, facts: Callable[[Registry], Facts], base: Base) -> None:
        self._facts_of = facts
        self._base = base
        self._lines = Lines()
        self._version = 0
        self._found: dict[object, tuple[int, list[int]]] = {}
        """What was found for a filter, and at which version of the lines."""
        self._lines_version = 0
        self._told: set[str] | None = set()
        """The ids that were told of since the start; None: the journal is read, and it no longer matters."""
        self._counts = DeskCounts()
        self._totals = DeskTotals(by_state={}, filling=True)
        """All but what the lines say."""
        self._company = Company()
        self._waiting: set[ActorRef[LedgerNews]] = set()
        """Viewers that have seen all there is."""
        self._known: set[AnyRef] = set()
        """Viewers whose end is told to us."""

    @property
    def called(self) -> str:
        return "ledger"

    @property
    def trouble(self) -> str | None:
        return self._totals.trouble or None

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(LEDGER, self.ref)
        self._facts = self._facts_of(self.stage.registry)
        self.run_beside(self._fill)
        self.run_beside(self._watch_base)

    async def down(self, down: Down) -> None:
        self._waiting = {viewer for viewer in self._waiting if viewer is not down.ref}
        self._known.discard(down.ref)

    async def handle(self, message: Heard) -> None:
        match message:
            case Noted(facts):
                await self._note(facts)
            case Forgotten(ids):
                await self._forget(ids)
            case LinesRead(facts, last):
                await self._read(facts, last)
            case RunningNow(count, _, lost):
                self._company.told(OURS, alive=True, now=trio.current_time())
                self._say(running=count, lost=lost)
                self._say_who_answers()
            case EditorNow(sentence, order):
                self._say(editor=sentence, editor_order=order or "")
            case PeerNow(sentence, alive):
                self._company.told(sentence, alive=alive, now=trio.current_time())
                self._say_who_answers()
            case LookedAtBase(health):
                self._look_at(health)
            case BaseIsSilent(why):
                self._say(trouble=why)
            case WindowAsked(wanted, reply):
                found = await self._find(wanted)
                if reply.wanted:
                    reply.set(self._lines.window(found, wanted))
            case LineAsked(id, reply):
                reply.set(self._lines.get(id))
            case DetailAsked(id, reply):
                self.run_beside(self._detail, id, reply)
            case DeskTotalsAsked(reply):
                reply.set(self._now())
            case FiguresAsked(reply):
                lonely = self._company.lonely_since
                seconds = 0.0 if lonely is None else trio.current_time() - lonely
                reply.set(self._counts.with_totals(self._now(), lonely_seconds=seconds))
            case NewsWanted(viewer, seen):
                self._want(viewer, seen)
            case _:
                self.unknown(message)

    # -- lines

    async def _note(self, facts: Sequence[RequestFact]) -> None:
        for at in range(0, len(facts), PART):
            for fact in facts[at : at + PART]:
                before = self._lines.get(fact.id)
                self._counts.changed(before, fact)
                self._company.changed(before, fact, trio.current_time())
                self._lines.put(fact)
                if self._told is not None:
                    self._told.add(fact.id)
            self._say_who_answers()
            await self._changed_lines()

    async def _forget(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PART):
            for id in ids[at : at + PART]:  # noqa: A001 - as in the contract
                self._lines.drop(id)
                if self._told is not None:
                    self._told.add(id)
            await self._changed_lines()

    async def _read(self, facts: Sequence[RequestFact], last: bool) -> None:
        for fact in facts:
            if self._told is None or fact.id not in self._told:
                self._lines.put(fact)
        if last:
            self._told = None
            self._say(filling=False)
        await self._changed_lines()

    async def _changed_lines(self) -> None:
        self._lines_version += 1
        self._tell()
        await trio.lowlevel.checkpoint()

    async def _find(self, wanted: WindowWanted) -> list[int]:
        asked = (frozenset(wanted.states), wanted.text.lower(), wanted.order)
        version, found = self._found.pop(asked, (-1, []))
        if version != self._lines_version:
            found = await _in_turns(self._lines.search(wanted))
        while len(self._found) >= MOST_KEPT:
            self._found.pop(next(iter(self._found)))
        self._found[asked] = (self._lines_version, found)
        return found

    # -- how the desk is

    def _now(self) -> DeskTotals:
        by_state = self._lines.by_state
        return replace(self._totals, by_state=by_state, oldest=self._lines.oldest, failed=by_state.get("gave up", 0))

    def _say(self, **fields: object) -> None:
        totals = replace(self._totals, **fields)
        if totals != self._totals:
            self._totals = totals
            self._tell()

    def _say_who_answers(self) -> None:
        here = self._company
        self._say(peer=here.sentence, peer_alive=here.lonely_since is None)

    def _look_at(self, health: BaseHealth) -> None:
        self._say(
            base=health.path,
            trouble=health.trouble or health.blocked or "",
            down=" ".join(troubles_of_the_ends(self.stage.registry)),
            watched=health.watched,
            events=health.events,
            overflows=health.overflows,
            rescans=health.rescans,
            quarantined=health.quarantined,
            sync_ms=health.last_sync_ms,
            reasons=health.reasons,
            withheld=health.withheld,
            withheld_reasons=health.withheld_reasons,
        )

    async def _watch_base(self) -> None:
        while True:
            seen: Heard = BaseIsSilent(f"The folder has not answered for {PATIENCE:.0f} seconds; its disk may hang.")
            with trio.move_on_after(PATIENCE):
                seen = LookedAtBase(await self._base.health())
            await self.ref.send(seen)
            await trio.sleep(LOOK_SECONDS)

    # -- the journal

    async def _fill(self) -> None:
        after: str | None = ""
        while after is not None:
            try:
                page = await self._facts.facts(after)
            except (KernelError, StoreError) as error:
                logger.warning("the journal of requests cannot be read now, and is asked again: %s", error)
                await trio.sleep(AGAIN_SECONDS)
                continue
            after = page.after
            for at in range(0, len(page.facts), PART):
                await self.ref.send(LinesRead(page.facts[at : at + PART], last=False))
        await self.ref.send(LinesRead((), last=True))

    async def _detail(self, id: str, reply: Reply[RequestDetail | None]) -> None:  # noqa: A002
        try:
            detail = await self._facts.detail(id) if is_id(id) else None
        except (KernelError, StoreError) as error:
            if reply.wanted:
                reply.fail(error if isinstance(error, KernelError) else KernelError(in_words(error)))
        else:
            if reply.wanted:
                reply.set(with_the_attempt_under_way(detail, self._lines.get(id)))

    # -- news

    def _want(self, viewer: ActorRef[LedgerNews], seen: int) -> None:
        if viewer not in self._known:
            self._known.add(viewer)
            self.monitor(viewer)
        if seen == self._version:
            self._waiting.add(viewer)
        else:  # also of what an earlier life of ours had told
            viewer.tell(LedgerNews(self._version))

    def _tell(self) -> None:
        self._version += 1
        waiting, self._waiting = self._waiting, set()
        for viewer in waiting:
            viewer.tell(LedgerNews(self._version))


def with_the_attempt_under_way(detail: RequestDetail | None, line: RequestFact | None) -> RequestDetail | None:
    """That a first attempt has begun is not in the journal, which knows only that it may have: the line tells."""
    if detail is None or line is None or line.state != "polling" or detail.fact.state not in ("waiting", "retrying"):
        return detail
    if line.attempts <= detail.fact.attempts:
        return detail
    return replace(detail, fact=line, tried=(*detail.tried, Attempt(number=line.attempts, began=line.changed)))


async def _in_turns(search: Generator[None, None, R]) -> R:
    while True:
        try:
            next(search)
        except StopIteration as end:
            found: R = end.value
            return found
        await trio.lowlevel.checkpoint()
