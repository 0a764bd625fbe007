"""Where the server end's reception puts a request that it has read, and how much of it is kept until its turn."""

from collections.abc import Iterator
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.ipc.command import Settlement
from actors.ipc.given import Asked, BothFiles
from actors.ipc.reception import APART_SECONDS, FRESH, FRESH_BYTES, SHARE, Reception
from actors.ipc.steps import Answer, Identity, Seen, Spoiled, Torn
from codec.ipc import Dialect, Request, Success
from codec.ipc.folder import Tray, Unreadable

REQUEST = Request(id="a", command="ping")
BROKEN, OTHER = b"b" * 32, b"o" * 32


class PaperMeans:
    """Means, base, journal and hands in one."""

    def __init__(self, files: dict[str, BothFiles], in_hand: set[str]) -> None:
        self.base = self.journal = self
        self.files, self.in_hand = files, in_hand
        self.stirred: list[str] = []
        self.forgotten: list[str] = []

    async def look(self, id: str) -> BothFiles:  # noqa: A002 - as in the contract
        await trio.lowlevel.checkpoint()
        return self.files[id]

    async def forget(self, ids: list[str]) -> None:
        await trio.lowlevel.checkpoint()
        self.forgotten.extend(ids)

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return id in self.in_hand

    def stir(self, id: str) -> None:  # noqa: A002
        self.stirred.append(id)


class Received:
    """A reception that has read these once, and what it told."""

    def __init__(self, files: dict[str, BothFiles], in_hand: set[str], rows: dict[str, Settlement | None]) -> None:
        self.means = PaperMeans(files, in_hand)
        self.told: list[str] = []
        tell = [lambda what=what: self.told.append(what) for what in ("torn", "turn", "change")]
        self.reception = Reception(cast("Any", self.means), cast("Any", self.means), *tell)
        self.reception._rows.update(rows)

    async def look(self) -> None:
        await self.reception._look_at(list(self.means.files))


ASKED, UNREADABLE = Asked(REQUEST, b"{}"), Unreadable(BROKEN, "it is no JSON")
IDENTITY = Identity(1, 2)
RESPONSES = (None, Torn(), Answer(IDENTITY, Success("pong")), Spoiled(IDENTITY, "it is no JSON"))
SETTLED = tuple(
    Settlement(fingerprint, asks) for fingerprint in (REQUEST.fingerprint, BROKEN, OTHER) for asks in (False, True)
)


def place_of(
    request: Asked | Torn | Unreadable | None, response: Seen, row: Settlement | None, *, has_row: bool, in_hand: bool
) -> str:
    if in_hand:
        return "stirred"
    if request is None:
        return "forgotten" if has_row else "nowhere"
    if isinstance(request, Torn) or isinstance(response, Torn):
        return "torn"
    its_own = REQUEST.fingerprint if isinstance(request, Asked) else BROKEN
    is_settled = row is not None and row.fingerprint == its_own
    return "nowhere" if is_settled and (response is not None or not cast("Any", row).asks_when_taken) else "queued"


@pytest.mark.parametrize("in_hand", [False, True])
@pytest.mark.parametrize("request_", [None, Torn(), ASKED, UNREADABLE], ids=["none", "torn", "asked", "unreadable"])
async def test_a_request_goes_where_its_files_and_its_row_say(
    request_: Asked | Torn | Unreadable | None, in_hand: bool
) -> None:
    for response, (has_row, row) in product(RESPONSES, [(False, None), (True, None), *((True, s) for s in SETTLED)]):
        held = {"a"} if in_hand else set[str]()
        received = Received({"a": BothFiles(request_, response)}, held, {"a": row} if has_row else {})
        reception, means = received.reception, received.means
        await received.look()
        place = place_of(request_, response, row, has_row=has_row, in_hand=in_hand)
        assert means.stirred == (["a"] if place == "stirred" else [])
        assert means.forgotten == (["a"] if place == "forgotten" else [])
        assert received.told == [*(["torn"] if place == "torn" else []), "turn", "change"]
        assert len(reception) == (place == "queued")
        files = means.files["a"] if place == "queued" else None
        assert (reception.known("a").files, reception.known("a").files) == (files, None), "it is given away once"
        assert reception.take(0.0) == ("a" if place == "queued" else None)
        reception.look_at_torn()
        assert len(reception) == (place == "torn"), "it is read again"


async def test_several_that_are_torn_are_told_of_once() -> None:
    received = Received({each: BothFiles(Torn(), None) for each in "abc"}, set(), {})
    await received.look()
    assert received.told.count("torn") == 1


@pytest.mark.parametrize("gone", [BothFiles(None, None), BothFiles(ASKED, None)], ids=["gone", "settled"])
async def test_what_waited_for_its_turn_leaves_the_queue_when_there_is_nothing_to_do(gone: BothFiles) -> None:
    received = Received({"a": BothFiles(ASKED, None)}, set(), {})
    await received.look()
    received.means.files["a"] = gone
    received.reception._rows["a"] = Settlement(REQUEST.fingerprint, asks_when_taken=False)
    await received.look()
    assert received.reception.take(0.0) is None


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        ([0] * FRESH, FRESH),
        ([0] * (FRESH + 5), FRESH),
        ([FRESH_BYTES], 1),
        ([FRESH_BYTES + 1], 0),
        ([FRESH_BYTES + 1] * 3 + [FRESH_BYTES] * 2, 2),
    ],
)
async def test_so_many_are_kept_until_their_turn_and_none_that_is_large(sizes: list[int], kept: int) -> None:
    contents = {f"r{number}": b" " * size for number, size in enumerate(sizes)}
    files = {id: BothFiles(Asked(Request(id=id, command="ping"), data), None) for id, data in contents.items()}  # noqa: A001
    received = Received(files, set(), {})
    await received.look()
    assert len(received.reception) == len(sizes)
    found = [received.reception.known(id).files for id in files]  # noqa: A001
    small = [files[id] for id, size in zip(files, sizes, strict=True) if size <= FRESH_BYTES]  # noqa: A001
    assert [each for each in found if each is not None] == small[:FRESH]
    assert len(small[:FRESH]) == kept


class Listed(PaperMeans):
    """A folder without files, whose names take a while to be read."""

    def __init__(self, seconds: float) -> None:
        super().__init__({}, set())
        self.terms = SimpleNamespace(dialect=Dialect.SPEC)
        self._seconds = seconds
        self.began: list[float] = []

    async def ids(self, tray: Tray) -> set[str]:
        if tray is Tray.REQUESTS:
            self.began.append(trio.current_time())
            await trio.sleep(self._seconds)
        return set()

    def __iter__(self) -> Iterator[str]:
        return iter(self.in_hand)


@pytest.mark.parametrize("seconds", [0.0, APART_SECONDS, 2.0])
async def test_however_often_it_is_asked_for_a_look_at_all_names_has_a_small_part_of_the_time(
    seconds: float, autojump_clock: MockClock
) -> None:
    means = Listed(seconds)
    reception = Reception(cast("Any", means), cast("Any", means), *3 * [lambda: None])
    reception._knows_rows = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reception.look_around)
        for _ in range(2_000):
            reception.rescan()
            await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
    apart = seconds + max(APART_SECONDS, SHARE * seconds)
    gaps = [later - earlier for earlier, later in pairwise(means.began)]
    assert gaps == pytest.approx([apart] * len(gaps))
    assert len(gaps) == pytest.approx(200 / apart, abs=1.01)
