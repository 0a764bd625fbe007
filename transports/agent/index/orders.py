"""What the server orders of a worker, and what the worker answers. Only paths and counts pass between them and, for the
vectors (vector_rows.py), texts and numbers.

    order        parts                            answer
    Scan         FoundChanged, again and again    Scanned
    Prepare                                       Written
    ReadPaths                                     Written
    LeaveOut                                      Written
    Relate                                        Written
    PutAside                                      Written
    RemoveIndex                                   Written
    SeekMeanings                                  WithoutMeaning
    KeepMeanings                                  Written

Instead of its answer any order may have an IndexRefusal. Orders can be repeated: each makes the index true to the disk
as it is then. `place` says which index is meant.
"""

import msgspec
from msgspec import Struct

GONE = -1
"""The size of a file that is to be taken out."""


class IndexPlace(Struct, frozen=True, array_like=True):
    file: str
    """Of SQLite."""
    root: str
    """Of the workspace."""
    closed: tuple[tuple[int, int], ...] = ()
    """Folders that are not entered: their devices and numbers."""


class Scan(Struct, frozen=True, array_like=True, tag=True):
    """Look which files are not as the index has them. `paths`: only these, and what is below them."""

    place: IndexPlace
    paths: tuple[str, ...] | None = None
    anew: bool = False
    """First of all, mark every file as one that is to be read. The mark outlives any kill that follows."""


class Prepare(Struct, frozen=True, array_like=True, tag=True):
    """Load what a reader needs: there will be files to read."""

    place: IndexPlace


class ReadPaths(Struct, frozen=True, array_like=True, tag=True):
    """Make the index true to these files: to what they hold, or that they are gone."""

    place: IndexPlace
    paths: tuple[str, ...]
    gone: tuple[str, ...] = ()
    """Files that the index is not to have any more, whether or not they are there."""


class LeaveOut(Struct, frozen=True, array_like=True, tag=True):
    """This file cannot be read, because it ends whoever reads it. `why` is a sentence."""

    place: IndexPlace
    path: str
    why: str


class Relate(Struct, frozen=True, array_like=True, tag=True):
    """Resolve imports, and rank the files by them, if anything has changed since that was done."""

    place: IndexPlace
    completed_at: float | None = None
    """Then the whole workspace has been gone through, by the wall's clock."""
    troubles: tuple[str, ...] = ()
    """What was in the way."""


class PutAside(Struct, frozen=True, array_like=True, tag=True):
    """The file of this number cannot be read. If it is still there, make another one."""

    place: IndexPlace
    number: int


class RemoveIndex(Struct, frozen=True, array_like=True, tag=True):
    """Delete the index, if nobody has used it since then."""

    place: IndexPlace
    unused_since: float


class SeekMeanings(Struct, frozen=True, array_like=True, tag=True):
    """Find chunks that have no vector of this model. Those whose text has one already are given it."""

    place: IndexPlace
    model: str
    size: int = 0
    """Bytes of each of its vectors, if that is known. Those of another size are not its own, whatever its name is."""
    after: int = 0
    """The number of a chunk."""


class ChunkMeaning(Struct, frozen=True, array_like=True):
    chunk: int
    digest: bytes
    """Of its text."""
    vector: bytes
    """Empty: the model refuses this text."""


class KeepMeanings(Struct, frozen=True, array_like=True, tag=True):
    """Keep these vectors. A chunk whose text is another one meanwhile is not given its vector."""

    place: IndexPlace
    model: str
    meanings: tuple[ChunkMeaning, ...]


IndexOrder = Scan | Prepare | ReadPaths | LeaveOut | Relate | PutAside | RemoveIndex | SeekMeanings | KeepMeanings


class IndexTotals(Struct, frozen=True, array_like=True):
    """Of the whole index."""

    generation: int = 0
    files: int = 0
    chunks: int = 0
    symbols: int = 0
    complete: bool = False
    completed_at: float | None = None
    troubles: tuple[str, ...] = ()
    vectors: int = 0
    """Chunks that have a vector..."""
    vector_model: str = ""
    """...of this model."""
    refused: int = 0
    """Chunks whose texts this model refuses."""


class FoundChanged(Struct, frozen=True, array_like=True, tag=True):
    changed: tuple[tuple[str, int], ...]
    """Files that are not as the index has them, each with its size; GONE, if it is no longer there."""
    seen: int
    """Files so far."""
    new: bool = False
    """There is nothing in the index yet. It is told before the folder is looked at."""


class Scanned(Struct, frozen=True, array_like=True, tag=True):
    seen: int
    total: IndexTotals
    troubles: tuple[str, ...] = ()
    related: bool = True
    """Whether imports were resolved as the files were then: the update before may have been ended before it did so."""


class Written(Struct, frozen=True, array_like=True, tag=True):
    total: IndexTotals = IndexTotals()
    changed: int = 0
    """Files that were read or taken out."""
    related: bool = False
    """Whether imports are resolved as the files are now."""
    again: tuple[str, ...] = ()
    """Files that have to be read once more."""


class UnknownText(Struct, frozen=True, array_like=True):
    chunk: int
    digest: bytes
    text: str


class WithoutMeaning(Struct, frozen=True, array_like=True, tag=True):
    texts: tuple[UnknownText, ...]
    reached: int | None
    """The last chunk that was looked at; None: there are no more."""
    total: IndexTotals


class IndexRefusal(Struct, frozen=True, array_like=True, tag=True):
    why: str
    """A sentence."""
    damaged: bool = False
    """The file of the index was put aside. There is a new one, with nothing in it."""


IndexAnswer = Scanned | Written | WithoutMeaning | IndexRefusal

encode = msgspec.msgpack.Encoder().encode
order_of = msgspec.msgpack.Decoder(IndexOrder).decode
found_of = msgspec.msgpack.Decoder(FoundChanged).decode
answer_of = msgspec.msgpack.Decoder(IndexAnswer).decode
