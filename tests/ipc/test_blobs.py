"""Blobs of one request each: the mark says whose they are, and nobody drops another's."""

from typing import Any, cast

import pytest
import trio

from actors.ipc.blobs import OwnBlobs, named_in
from actors.kernel import MailboxFull

A, B = "a" * 64, "0123456789abcdef" * 4


class PaperStore:
    """Its digests are numbers of 64 digits."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.calls_left = 1_000
        """Then it is in trouble."""

    async def _call(self) -> None:
        await trio.lowlevel.checkpoint()
        self.calls_left -= 1
        if self.calls_left < 0:
            raise MailboxFull("the store is busy")

    async def put_blob(self, data: bytes) -> str:
        await self._call()
        known = next((digest for digest, blob in self.blobs.items() if blob == data), None)
        digest = known or f"{len(self.blobs):064}"
        self.blobs[digest] = data
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        await self._call()
        return self.blobs.get(digest)

    async def drop_blob(self, digest: str) -> None:
        await self._call()
        self.blobs.pop(digest, None)


def blobs_in(store: PaperStore, room: str = "room") -> OwnBlobs:
    return OwnBlobs(lambda: cast("Any", store), room)


@pytest.mark.parametrize(
    ("row", "digests"),
    [
        (b"", ()),
        (A.encode(), (A,)),
        (f'{{"blob":"{B}","parts":["{A}","{B}"]}}'.encode(), (B, A)),
        (f"{A[1:]} {A}a a{B} {A.upper()} {A}\xff".encode("latin-1"), (A,)),
        (f"x{A}x".encode(), (A,)),
    ],
)
def test_what_looks_like_a_digest_in_a_row_is_named_once_in_its_order(row: bytes, digests: tuple[str, ...]) -> None:
    assert named_in(row) == digests


async def test_the_same_data_is_another_blob_for_each_room_request_and_part_and_comes_back_without_the_mark() -> None:
    store = PaperStore()
    owners = [(room, id, part) for room in ("one", "two") for id in ("a", "b") for part in (None, 0, 1)]  # noqa: A001
    digests = [await blobs_in(store, room).put(id, b"data", part) for room, id, part in owners]  # noqa: A001
    assert len(set(digests)) == len(owners)
    assert [await blobs_in(store, room).put(id, b"data", part) for room, id, part in owners] == digests  # noqa: A001
    for (room, id, part), digest in zip(owners, digests, strict=True):  # noqa: A001
        assert await blobs_in(store, room).get(id, digest, part) == b"data"
    assert await blobs_in(store).get("a", A) is None


async def test_a_blob_of_an_earlier_version_is_read_as_it_is_and_stays() -> None:
    store = PaperStore()
    old = await store.put_blob(b"without a mark")
    assert await blobs_in(store).get("a", old) == b"without a mark"
    assert await blobs_in(store).drop("a", [old]) == ()
    assert list(store.blobs) == [old]


async def test_whoever_lets_a_request_go_drops_its_blobs_with_all_parts_and_no_others() -> None:
    store = PaperStore()
    mine, others = blobs_in(store), blobs_in(store, "another")
    own = [await mine.put("a", b"data", part) for part in (None, 0, 1)]
    kept = [await mine.put("aa", b"data"), await mine.put("b", b"data"), await others.put("a", b"data")]
    assert await mine.drop("a", [*own, *kept, A]) == ()
    assert sorted(store.blobs) == sorted(kept)


@pytest.mark.parametrize("calls", range(7))
async def test_exactly_what_a_store_in_trouble_still_has_is_left(calls: int) -> None:
    store = PaperStore()
    mine = blobs_in(store)
    own = [await mine.put("a", b"data", part) for part in range(3)]
    store.calls_left = calls
    left = await mine.drop("a", own)
    assert left == tuple(own[: 3 - calls // 2])
    assert set(left) == set(store.blobs)
