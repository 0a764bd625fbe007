"""The law of the client end: whatever crashes, and whenever, every request ends, after three attempts at most.

The client end is killed in the middle of any of its trips to the folder or to the store, with all its errands, as the
end of the process would end it. The server loses what it remembers at any moment. The folder vanishes and comes back,
the disk is full for a while, and events are lost. The clock jumps from event to event.

What somebody has answered before the client end ever saw it is not its own: so nobody answers here before that, unless
the script has left a copy. Then a HEAD peer may take the request at any time, also while no client end runs.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.ipc import client_steps, server_steps
from actors.ipc.client_steps import MOST_ATTEMPTS, State
from actors.ipc.dossier import Dossier
from actors.ipc.errand import ClientTerms
from actors.ipc.given import EntryStuck, Tray
from actors.ipc.journal import ClientJournal
from actors.kernel import AnyRef
from actors.kernel.testing import run_schedule
from codec.ipc import Dialect, Failure, Outcome, read_response
from tests.ipc.client_kit import (
    BUSY,
    DONE,
    NEVER,
    PATIENCE,
    Desk,
    PaperServer,
    a_state,
    desk,
    in_turn,
    put,
    put_with_copy,
    request,
)
from tests.ipc.paper import PaperBase
from tests.plenty import plenty

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class PerilousBase(PaperBase):
    """`peril` is called before and after each trip."""

    def __init__(self) -> None:
        super().__init__()
        self.peril: Callable[[], None] = lambda: None

    async def _trip(self, what: str, *, writes: bool = False) -> None:
        self.peril()
        await super()._trip(what, writes=writes)

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        stuck = await super().publish(requests, first, by_turns=by_turns)
        self.peril()
        await trio.lowlevel.checkpoint()
        return stuck

    async def take_away(self, id: str, identity: Any) -> bool:  # noqa: A002
        taken = await super().take_away(id, identity)
        self.peril()
        await trio.lowlevel.checkpoint()
        return taken

    async def write(self, place: Tray, id: str, data: bytes) -> None:  # noqa: A002
        await super().write(place, id, data)
        self.peril()
        await trio.lowlevel.checkpoint()


Fault = tuple[int, str]
"""After how many trips since the last one, and what."""

FAULTS = st.lists(
    st.tuples(
        st.integers(0, 25),
        st.sampled_from(
            ["client dies"] * 4 + ["errand dies", "server dies", "server dies", "gone", "full", "overflow"]
        ),
    ),
    max_size=12,
)
OUTCOMES = st.lists(st.sampled_from([DONE, BUSY, NEVER, None]), max_size=6)


@dataclass
class Fate:
    """What befalls the desk, in its order."""

    faults: list[Fault]
    at: int = 0

    def tick(self) -> str | None:
        if not self.faults:
            return None
        count, what = self.faults[0]
        self.at += 1
        if self.at <= count:
            return None
        self.faults.pop(0)
        self.at = 0
        return what


async def until_adopted(it: Desk, server: PaperServer) -> None:
    while server.hidden:
        for id in list(server.hidden):  # noqa: A001
            if await it.journal.find(id) is not None:
                server.hidden.discard(id)
        await trio.sleep(0.3)


async def live(
    dialect: Dialect, dropped: int, submitted: int, copied: int, faults: list[Fault], outcomes: list[Outcome | None]
) -> tuple[list[Dossier], PaperServer, PerilousBase]:
    base, fate = PerilousBase(), Fate(list(faults))
    server = PaperServer(base, in_turn(*outcomes, BUSY), dialect, pause=0.1)
    terms = ClientTerms(dialect=dialect, in_flight=2, attempt_seconds=20.0)

    async def misfortune(it: Desk, nursery: trio.Nursery) -> None:
        async def passes(end: Callable[[], None]) -> None:
            await trio.sleep(7.0)
            end()

        def befall() -> None:
            top: dict[str, AnyRef] = {child.path.rsplit("/", 1)[1]: child for child in it.house.root.children()}
            match fate.tick():
                case "client dies":
                    top["client"].kill()
                case "errand dies":
                    for crowd in top["client"].children():
                        for errand in crowd.children():
                            errand.kill()
                case "server dies":
                    server.crash()
                case "gone":
                    base.lose("the folder is gone")
                    nursery.start_soon(passes, base.mend)
                case "full":
                    base.full = True
                    nursery.start_soon(passes, lambda: setattr(base, "full", False))
                case "overflow":
                    base.overflow()

        base.peril = befall

    keep = ClientJournal.keep

    async def perilous_keep(journal: ClientJournal, *dossiers: Dossier, soft: bool = False) -> list[Dossier]:
        base.peril()
        await trio.lowlevel.checkpoint()
        kept = await keep(journal, *dossiers, soft=soft)
        base.peril()
        await trio.lowlevel.checkpoint()
        return kept

    with a_state() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientJournal, "keep", perilous_keep)
        server.hidden = {f"d{n}" for n in range(dropped)}
        if copied:
            put_with_copy(base, request("c0"))
            for _ in range(12):  # while nobody else is there: in HEAD it is answered, and taken away
                server.step()
        async with desk(directory, base, terms, [server]) as it, trio.open_nursery() as nursery:
            await it.submit(*(request(f"s{n}") for n in range(submitted)))
            await misfortune(it, nursery)
            nursery.start_soon(until_adopted, it, server)
            for n in range(dropped):
                put(base, request(f"d{n}"))
            for n in range(1, copied):
                put_with_copy(base, request(f"c{n}"))
            names = (("s", submitted), ("d", dropped), ("c", copied))
            dossiers = await it.over(*(f"{name}{n}" for name, count in names for n in range(count)))
            base.peril = lambda: None
            with trio.fail_after(PATIENCE):
                while any(tray is Tray.SUBMITTED for tray, _ in base.files):
                    await base.change()
            nursery.cancel_scope.cancel()
    return dossiers, server, base


@given(
    st.integers(0, 1 << 32),
    st.sampled_from([Dialect.SPEC, Dialect.HEAD]),
    st.integers(0, 2),
    st.integers(1, 3),
    st.integers(0, 2),
    FAULTS,
    OUTCOMES,
)
@settings(max_examples=plenty(50), deadline=None)
@example(0, Dialect.SPEC, 1, 1, 2, [(n, "client dies") for n in range(12)], [BUSY, BUSY, DONE])
@example(0, Dialect.HEAD, 1, 1, 2, [(n, "client dies") for n in range(12)], [BUSY, BUSY, DONE])
@example(0, Dialect.HEAD, 1, 2, 0, [(17, "errand dies")], [DONE])
@example(0, Dialect.HEAD, 0, 1, 2, [], [BUSY])
def test_every_request_ends_after_three_attempts_at_most_whatever_crashes(
    seed: int,
    dialect: Dialect,
    dropped: int,
    submitted: int,
    copied: int,
    faults: list[Fault],
    outcomes: list[Outcome | None],
) -> None:
    dossiers, server, base = run_schedule(seed, live, dialect, dropped, submitted, copied, faults, outcomes)
    if not faults and None not in outcomes:
        assert all(count <= MOST_ATTEMPTS for count in server.runs.values())
    for dossier in dossiers:
        assert dossier.begun <= MOST_ATTEMPTS
        assert len(dossier.tried) <= MOST_ATTEMPTS
        assert all(each.outcome is not None for each in dossier.tried)
        row = dossier.row
        assert (Tray.REQUESTS, dossier.id) in base.files or dialect is Dialect.HEAD
        if row.state is State.SUCCESS:
            assert row.success == DONE
            assert (Tray.FAILED, dossier.id) not in base.files
        else:
            last = row.failures[-1]
            assert len(row.failures) == MOST_ATTEMPTS or last.permanent
            copy = read_response(base.files[Tray.FAILED, dossier.id][1], dossier.id).outcome
            assert isinstance(copy, Failure)
            assert copy == last or copy.message.startswith(client_steps.OVERDUE)
            known = (BUSY, NEVER, Failure(client_steps.OVERDUE), Failure(server_steps.POISON, permanent=True))
            told = [each for each in row.failures if not each.message.startswith(client_steps.UNREADABLE)]
            assert all(failure in known for failure in told)  # the others: the server died while it wrote
