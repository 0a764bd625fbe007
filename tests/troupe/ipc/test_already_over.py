"""What is over before somebody waits for it is given at once, and not when the folder is looked through again."""

from functools import partial
from pathlib import Path
from typing import cast
from unittest.mock import AsyncMock

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from codec.ipc import Failure, Outcome, Success
from codec.ipc.desk import Attempt, RequestDetail, RequestFact
from tests.patience import PATIENCE
from tests.troupe.ipc.peer import at_the_desk
from troupe.ipc import Desk, DeskError, Result
from troupe.ipc.arrivals import Arrivals, FileWatch
from troupe.ipc.results import result_of


async def test_who_waits_for_what_is_over_hears_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troupe.ipc.desk.Arrivals", partial(Arrivals, rescan=10_000.0))
    with at_the_desk(tmp_path / "base"):
        async with Desk(tmp_path / "base", state=tmp_path) as desk:
            tickets = [await desk.submit("echo", {"prompt": str(number)}) for number in range(3)]
            first = [await ticket.wait() for ticket in tickets]
            with trio.fail_after(PATIENCE):
                assert [await ticket.wait() for ticket in tickets] == first
                again = [result async for result in desk.as_completed(tickets)]
            assert {each.id for each in again} == {each.id for each in first}


OUTCOME = st.one_of(st.builds(Success, st.integers()), st.builds(Failure, st.text(max_size=5)))


@given(st.lists(OUTCOME, min_size=1, max_size=5), st.booleans(), st.floats(0, 1e9))
def test_a_result_has_its_attempts_from_the_first_on_or_the_one_that_its_file_tells(
    outcomes: list[Outcome], known: bool, at: float
) -> None:
    attempts = tuple(Attempt(number=n, began=at, ended=at, outcome=each) for n, each in enumerate(outcomes, 1))
    fact = RequestFact(id="a", command="ping", state="success", created=at, changed=at)
    detail = RequestDetail(fact=fact, tried=attempts) if known else None
    found = result_of("a", outcomes[-1], at, detail)
    assert found.ok == isinstance(outcomes[-1], Success)
    assert [each.number for each in found.attempts] == list(range(1, len(found.attempts) + 1))
    assert found.attempts[-1].outcome == outcomes[-1]
    assert len(found.attempts) == (len(outcomes) if known else 1)
    assert all(each.began == each.ended == at for each in found.attempts)


class NobodyLooks:
    """Arrivals in which nothing arrives."""

    def register(self, watch: FileWatch, ids: object) -> None: ...

    def forget(self, watch: FileWatch, ids: object) -> None: ...

    def is_quiet(self, id: str) -> bool:  # noqa: A002
        return False

    async def until_stirred(self, watch: FileWatch) -> None:
        raise AssertionError("what is over already is waited for")


@pytest.mark.parametrize("fault", ["it is cancelled", "the folder cannot be used"])
async def test_what_could_not_be_looked_at_is_looked_at_by_whoever_waits_next(fault: str) -> None:
    looked = list[list[str]]()

    async def look(ids: list[str]) -> list[Result]:
        looked.append(ids)
        if len(looked) > 1:
            return [result_of(each, Success(7), 1.0, None) for each in ids]
        if fault == "it is cancelled":
            await trio.sleep_forever()
        raise DeskError(fault)

    watch = FileWatch(cast("Arrivals", NobodyLooks()), look, AsyncMock())
    watch.add(["a", "b"])
    if fault == "it is cancelled":
        with trio.move_on_after(0):
            await watch.next(None)
    else:
        with pytest.raises(DeskError):
            await watch.next(None)
    assert [(await watch.next(None)).id, (await watch.next(None)).id] == ["a", "b"]
    assert looked == [["a", "b"], ["a", "b"]]
    watch.close()


class StirsLate(NobodyLooks):
    """Where something happens in the very moment in which patience ends, or nothing at all."""

    def __init__(self, *, stirs: bool) -> None:
        self._stirs = stirs

    async def until_stirred(self, watch: FileWatch) -> None:
        try:
            await trio.sleep_forever()
        finally:
            if self._stirs:
                watch.stir("a")


@pytest.mark.parametrize("stirs", [True, False])
async def test_who_is_told_in_the_moment_in_which_patience_ends_does_not_complain(
    autojump_clock: object, stirs: bool
) -> None:
    complain, over = AsyncMock(side_effect=DeskError("nobody is there")), False

    async def look(ids: list[str]) -> list[Result]:
        return [result_of(each, Success(7), 1.0, None) for each in ids] if over else []

    watch = FileWatch(cast("Arrivals", StirsLate(stirs=stirs)), look, complain)
    watch.add(["a", "b"])
    await watch._look_at_some()
    over = True
    if stirs:
        assert (await watch.next(5.0)).id == "a"
        complain.assert_not_called()
    else:
        with pytest.raises(DeskError, match="nobody is there"):
            await watch.next(5.0)
        complain.assert_awaited_once_with("a")
    assert trio.current_time() == pytest.approx(5.0)
