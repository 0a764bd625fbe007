"""What a program writes just before it ends, and whether it ended by itself."""

from pathlib import Path

import pytest

from codec.programs import Exited
from tests.transports.process.house import open_launcher

WRITES = "import sys; sys.stdout.write('o' * {out}); sys.stderr.write('e' * {err}); sys.exit({status})"


@pytest.mark.parametrize(("out", "err"), [(5000, 0), (0, 5000), (5000, 5000), (1000, 1000), (1001, 0)])
async def test_who_has_ended_by_himself_was_not_stopped_for_what_he_wrote_last(
    tmp_path: Path, out: int, err: int
) -> None:
    """More than a flood, but it lies in the pipes when the program has ended: nobody had to stop it."""
    async with open_launcher(tmp_path) as processes:
        outcome = await processes.python(WRITES.format(out=out, err=err, status=3), flood_bytes=1000)
        assert outcome.end == Exited(3)
        assert outcome.stopped_for is None
        assert (outcome.stdout.total, outcome.stderr.total) == (out, err)


async def test_who_floods_both_outputs_is_stopped_once_and_for_that(tmp_path: Path) -> None:
    source = "import os\nwhile True: os.write(1, b'o' * 60000); os.write(2, b'e' * 60000)"
    async with open_launcher(tmp_path) as processes:
        outcome = await processes.python(source, flood_bytes=200_000, wall_seconds=60.0)
        assert outcome.stopped_for == "output"
        assert await processes.is_healthy()
