"""The vectors of one index in memory, and the search for those that are most like a question's. Exact: all of them are
compared.

The matrix is made when somebody asks, in the thread of the question, and follows the index. The numbers of vectors only
grow within an era (vector_rows.py), so only the new ones are read. The table of which chunk has which vector is read
anew when the index has another generation.
"""

import sqlite3
from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

from transports.agent.index.vector_rows import MOST_VECTORS

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

READ_AT_ONCE = 2_000
LEAST_LIKENESS = 0.2
"""What is less alike than this has nothing to do with the question."""


class OtherVectors(Exception):
    """Those of the index have another length than the question's: they are another model's, whatever its name is."""


def has_numpy() -> bool:
    return find_spec("numpy") is not None


class VectorMatrix:
    def __init__(self) -> None:
        self._lock = Lock()
        self._era = ""
        self._generation = -1
        self._size = 0
        """Bytes of one vector."""
        self._parts: list[bytes] = []
        """Read, and not yet in the matrix."""
        self._ids: list[int] = []
        """Of the vectors, in the order of the rows; it grows."""
        self._matrix: NDArray[numpy.float32] | None = None
        self._chunks: NDArray[numpy.int64] | None = None
        self._rows: NDArray[numpy.int64] | None = None

    def most_like(
        self, connection: sqlite3.Connection, model: str, question: bytes, most: int
    ) -> list[tuple[int, float]] | None:
        """The chunks that are most like it, the best first. None: there are no vectors of this model. Raises
        OtherVectors."""
        import numpy

        with self._lock:
            meta = dict(
                connection.execute(
                    "SELECT key, value FROM meta WHERE key IN ('generation', 'vectors', 'vector_model', 'vector_era')"
                )
            )
            if meta.get("vector_model") != model or not meta.get("vectors"):
                return None
            self._follow(connection, str(meta.get("vector_era")), meta["generation"])
            matrix, chunks, rows, size = self._matrix, self._chunks, self._rows, self._size
        if matrix is None or chunks is None or rows is None:
            return None
        if len(question) != size:
            raise OtherVectors
        alike = (matrix @ numpy.frombuffer(question, "<f4"))[rows]
        best = numpy.argpartition(-alike, most)[:most] if len(alike) > most else numpy.arange(len(alike))
        found = [(int(chunks[at]), float(alike[at])) for at in best if alike[at] >= LEAST_LIKENESS]
        return sorted(found, key=lambda each: (-each[1], each[0]))

    def _follow(self, connection: sqlite3.Connection, era: str, generation: int) -> None:
        import numpy

        if era != self._era:
            self._era, self._generation, self._size = era, -1, 0
            self._parts, self._ids, self._matrix = [], [], None
        if generation == self._generation:
            return
        self._read_new(connection)
        if self._parts:
            new = numpy.frombuffer(b"".join(self._parts), "<f4").reshape(-1, self._size // 4)
            self._matrix = new if self._matrix is None else numpy.concatenate([self._matrix, new])
            self._parts = []
        pairs: Sequence[tuple[int, int]] = connection.execute(
            "SELECT chunk, vector FROM chunk_vector ORDER BY chunk LIMIT ?", (MOST_VECTORS,)
        ).fetchall()
        both = numpy.array(pairs, numpy.int64).reshape(-1, 2)
        ids = numpy.array(self._ids, numpy.int64)
        at = numpy.minimum(numpy.searchsorted(ids, both[:, 1]), max(len(ids) - 1, 0))
        # a text that is refused has a number, and no row
        there = ids[at] == both[:, 1] if len(ids) else numpy.zeros(len(both), bool)
        self._chunks, self._rows = both[there, 0], at[there]
        self._generation = generation

    def _read_new(self, connection: sqlite3.Connection) -> None:
        """Part by part: what was read stays, if the question has to be given up."""
        while len(self._ids) < 2 * MOST_VECTORS:
            last = self._ids[-1] if self._ids else 0
            found = connection.execute(
                "SELECT id, data FROM vector WHERE id > ? AND length(data) > 0 ORDER BY id LIMIT ?",
                (last, READ_AT_ONCE),
            ).fetchall()
            if not found:
                return
            self._size = self._size or len(found[0][1])
            self._parts.append(b"".join(data for _, data in found))
            self._ids += (number for number, _ in found)
