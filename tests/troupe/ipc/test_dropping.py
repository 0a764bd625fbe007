"""Who comes while others write goes with the next trip, and each hears of its own."""

from collections.abc import Mapping

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from troupe.ipc import dropping
from troupe.ipc.dropping import Dropping
from troupe.ipc.folder import DeskFolder
from troupe.ipc.troubles import DeskError

MOST = 5
LOADS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.binary(max_size=2), min_size=1, max_size=7), max_size=8
)


class Drawer(DeskFolder):
    """It takes what it is given, and a name once only."""

    def __init__(self, faults: Mapping[int, DeskError] | None = None, *, in_memory: bool = False) -> None:
        self.in_memory = in_memory
        self.trips: list[dict[str, bytes]] = []
        self.kept: dict[str, bytes] = {}
        self._faults = faults or {}

    def drop(self, requests: Mapping[str, bytes], *, waits: bool = True) -> dict[str, OSError | None]:
        self.trips.append(dict(requests))
        if (fault := self._faults.get(len(self.trips))) is not None:
            raise fault
        fates = {each: FileExistsError() if each in self.kept else None for each in requests}
        self.kept = {**requests, **self.kept}
        return {**fates}


@pytest.mark.slow
@given(LOADS, st.sets(st.integers(0, 7)), st.sets(st.integers(1, 4)), st.booleans())
def test_each_request_goes_once_in_a_trip_that_is_not_too_large_and_everybody_hears_of_their_own(
    loads: list[dict[str, bytes]], leaving: set[int], faulty: set[int], in_memory: bool
) -> None:
    drawer = Drawer({trip: DeskError(f"trip {trip}") for trip in faulty}, in_memory=in_memory)
    heard: dict[int, dict[str, OSError | None]] = {}
    failed: dict[int, DeskError] = {}

    async def drop(desk: Dropping, number: int, scope: trio.CancelScope) -> None:
        with scope:
            try:
                heard[number] = await desk.drop(loads[number])
            except DeskError as error:
                failed[number] = error

    async def main() -> None:
        desk = Dropping(drawer)
        async with trio.open_nursery() as nursery:
            scopes = [trio.CancelScope() for _ in loads]
            for number, scope in enumerate(scopes):
                nursery.start_soon(drop, desk, number, scope)
            await trio.lowlevel.checkpoint()
            for number in leaving & set(range(len(loads))):
                scopes[number].cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dropping, "MOST_AT_ONCE", MOST)
        trio.run(main)

    assert set(range(len(loads))) - leaving <= heard.keys() | failed.keys()
    assert len({id(error) for error in failed.values()}) == len(failed)  # each has a traceback of its own
    assert all(len(trip) <= MOST or trip in loads for trip in drawer.trips)
    for number, fates in heard.items():
        assert fates.keys() == loads[number].keys()
    for name in "abcdefgh":
        first = [number for number, fates in heard.items() if name in fates and fates[name] is None]
        assert len(first) <= 1
        assert all(loads[number][name] == drawer.kept[name] for number in first)
