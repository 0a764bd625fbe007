"""A disk that is really full: a file system of a few megabytes, where this process may mount one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.store.connection import inspect
from actors.store.database import LOG_BYTES, Database
from actors.store.directory import StateDirectory
from actors.store.errors import StateUnusable, StoreFull
from actors.store.operations import Append, PutBlob, Read, Streams
from actors.store.reader import Reader

SYS_ADMIN = 1 << 21


def may_mount() -> bool:
    status = Path("/proc/self/status")
    if os.geteuid() != 0 or not status.exists():
        return False
    (capabilities,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("CapEff:"))
    return bool(int(capabilities, 16) & SYS_ADMIN)


LARGE_ENOUGH_FOR_THE_LOG = (LOG_BYTES >> 20) + 4
TOO_SMALL_FOR_THE_LOG = 3


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty file system of so many megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,size={request.param}m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)  # also if a test has left a file open


def append_until_full(database: Database) -> int:
    """How many large events fitted."""
    for count in range(10_000):
        (answer,) = database.execute([Append("a", [b"x" * 20_000])])
        if isinstance(answer, StoreFull):
            return count
        assert answer == count + 1
        database.rest(idle=True)
    raise AssertionError("the disk does not become full")


if may_mount():  # elsewhere the tests with a limit on pages (test_database.py) stand in for this one

    @pytest.mark.slow
    @pytest.mark.parametrize("small", [LARGE_ENOUGH_FOR_THE_LOG, TOO_SMALL_FOR_THE_LOG], indirect=True)
    def test_a_store_on_a_full_disk_keeps_what_it_acknowledged_and_recovers(small: Path) -> None:
        ballast = small / "ballast"
        ballast.write_bytes(b"x" * 1_000_000)
        with StateDirectory.claim(small) as directory:
            database, reader = Database(directory.database), Reader(directory.database)
            kept = append_until_full(database)
            assert kept > 0
            assert isinstance(database.execute([PutBlob(b"x" * 900_000)])[0], StoreFull)
            assert reader.execute([Streams()]) == [[("a", kept)]]
            ballast.unlink()
            assert database.execute([Append("a", [b"after"])]) == [kept + 1]
            assert reader.execute([Read("a", kept)]) == [[(kept + 1, b"after")]]
            reader.close()
            database.close()
        inspect(directory.database)

    @pytest.mark.parametrize(
        ("small", "left", "words"),
        [(1, 0, "cannot be used: No space left"), (1, 16, "whether the disk is full"), (1, 60, "no space left for")],
        indirect=["small"],
    )
    def test_a_disk_that_is_full_from_the_start_is_refused_in_words(small: Path, left: int, words: str) -> None:
        """With so many thousand bytes left: too few for the lock, for what readers and writer share, for the tables."""
        with pytest.raises(OSError, match="No space left"):
            (small / "ballast").write_bytes(b"x" * 2_000_000)
        os.truncate(small / "ballast", (small / "ballast").stat().st_size - left * 1024)
        with pytest.raises(StateUnusable, match=words), StateDirectory.claim(small):
            raise AssertionError("it was claimed")
