"""What a script has cancelled while no client end was there is not run by the one that comes, whatever it was at; and
what was submitted after that is."""

from collections.abc import Callable
from functools import partial

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.ipc.client_steps import State
from actors.ipc.errand import ClientTerms
from actors.ipc.given import Tray
from actors.ipc.journal import ClientJournal
from actors.kernel.testing import run_in_virtual_time
from actors.store import StoreFull
from codec.ipc import Dialect, Request
from tests.ipc.client_kit import (
    BUSY,
    DONE,
    EPOCH,
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

SETTLED_SECONDS = 5.0
FIRST, OTHER = request("a", params={"n": 1}), request("a", params={"n": 2})
WAS = ["unknown", "waiting", "under way", "between attempts"]


async def until_it_is(was: str, it: Desk, base: PaperBase) -> None:
    await it.ready()
    await trio.sleep(SETTLED_SECONDS)
    if was == "waiting":
        late = request("a", params={"n": 1}, not_before=EPOCH + 1e6)
        await it.submit(late)
        put(base, late)
    elif was != "unknown":
        put(base, FIRST)
    await trio.sleep(SETTLED_SECONDS)
    known = await it.journal.find_open("a")
    shown = {"under way": "waiting", "between attempts": "retrying"}  # that an attempt has begun is in no row
    assert (known.shown if known else "unknown") == shown.get(was, was)


async def cancelled_in_between(
    dialect: Dialect, was: str, then: Request | None, *, copied: bool, faults: Callable[[PaperBase], None] | None = None
) -> None:
    base, terms = PaperBase(), ClientTerms(dialect=dialect, backoff_seconds=1e5)
    busy = PaperServer(base, in_turn(BUSY if was == "between attempts" else None), dialect)
    done = PaperServer(base, in_turn(DONE), dialect)
    with a_state() as directory:
        async with desk(directory, base, terms, [busy]) as it:
            await until_it_is(was, it, base)
        if was == "unknown":
            put_with_copy(base, FIRST)
        base.known = True
        base.foreign_cancel("a")
        if then is not None:
            (put_with_copy if copied else put)(base, then)
        if faults is not None:
            faults(base)
        async with desk(directory, base, terms, [done]) as it:
            (dossier,) = await it.over("a")
            await trio.sleep(SETTLED_SECONDS)
            if then is None:
                assert dossier.shown == "cancelled"
                assert "while no server was there" in " ".join(dossier.notes)
                assert done.runs == {}
                assert (Tray.REQUESTS, "a") not in base.files
            else:
                await trio.sleep(SETTLED_SECONDS)
                (dossier,) = await it.over("a")
                assert (dossier.state, dossier.fingerprint) == (State.SUCCESS, then.fingerprint)
                assert "(cancelled, " in " ".join(dossier.notes)
                assert done.runs == {"a": 1}
            assert not {place for place, _ in base.files} & {Tray.CANCELLED, Tray.SUBMITTED}


@pytest.mark.parametrize("then", [None, FIRST, OTHER], ids=["nothing", "the same", "another"])
@pytest.mark.parametrize(
    ("dialect", "was"),
    [*((Dialect.SPEC, was) for was in WAS), *((Dialect.HEAD, was) for was in WAS[:-1])],  # who has taken it may answer
)
@pytest.mark.parametrize("copied", [True, False])
def test_what_was_cancelled_is_not_run_and_what_was_submitted_after_that_is(
    dialect: Dialect, was: str, then: Request | None, copied: bool
) -> None:
    run_in_virtual_time(partial(cancelled_in_between, dialect, was, then, copied=copied))


@pytest.mark.slow
@given(
    st.sampled_from([Dialect.SPEC, Dialect.HEAD]),
    st.sampled_from(["unknown", "under way"]),
    st.sampled_from([None, FIRST, OTHER]),
    st.lists(st.sampled_from(["gone", "store", "well"]), max_size=8),
)
@settings(max_examples=plenty(30), deadline=None)
def test_so_it_is_whatever_trouble_the_folder_and_the_store_have_at_the_start(
    dialect: Dialect, was: str, then: Request | None, troubles: list[str]
) -> None:
    left: list[str] = []
    keep = ClientJournal.keep

    def befall(base: PaperBase) -> None:
        trip = base._trip
        left.extend(troubles)

        async def perilous(what: str, *, writes: bool = False) -> None:
            base.gone = "it is gone" if left and left[0] == "gone" else None
            if left and left[0] != "store":
                left.pop(0)
            try:
                await trip(what, writes=writes)
            finally:
                base.gone = None

        base._trip = perilous  # type: ignore[method-assign]

    async def failing(journal: ClientJournal, *dossiers: object, soft: bool = False) -> object:
        if left and left[0] == "store":
            left.pop(0)
            raise StoreFull("the disk is full")
        return await keep(journal, *dossiers, soft=soft)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientJournal, "keep", failing)
        run_in_virtual_time(partial(cancelled_in_between, dialect, was, then, copied=True, faults=befall))


def test_what_was_cancelled_and_cannot_be_read_is_forgotten() -> None:
    async def main() -> None:
        base = PaperBase()
        for id, data in (("odd", b"[]"), ("half", b'{"request_id": "ha')):  # noqa: A001 - as in the contract
            base.foreign_put(Tray.CANCELLED, id, data)
        with a_state() as directory:
            async with desk(directory, base) as it:
                await it.ready()
                await trio.sleep(SETTLED_SECONDS)
                assert [await it.journal.find(id) for id in ("odd", "half")] == [None, None]  # noqa: A001
        assert base.files == {}

    run_in_virtual_time(main)
