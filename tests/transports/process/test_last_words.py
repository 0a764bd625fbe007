"""What a program writes just before it ends, and whether it ended by itself."""

from pathlib import Path

import pytest
import trio

from codec.programs import Exited, Stream
from tests.transports.process.house import PATIENCE, PYTHON, open_launcher
from transports.process.run import OnOutput

WRITES = "import sys; sys.stdout.write('o' * {out}); sys.stderr.write('e' * {err}); sys.exit({status})"


def deaf(stream: Stream, data: bytes) -> None:
    """It is read as it comes, and not kept."""


@pytest.mark.parametrize("listener", [None, deaf], ids=["read at its end", "read as it comes"])
@pytest.mark.parametrize(("out", "err"), [(5000, 0), (0, 5000), (5000, 5000), (60_000, 1000), (1001, 0)])
async def test_who_has_ended_by_himself_was_not_stopped_for_what_he_wrote_last(
    tmp_path: Path, out: int, err: int, listener: OnOutput | None
) -> None:
    """More than a flood, but no more than lies in the pipes when the program has ended: nobody had to stop it. On a
    busy machine a program is read before its end, however soon that comes."""
    async with open_launcher(tmp_path) as processes:
        command = processes.command([*PYTHON, WRITES.format(out=out, err=err, status=3)], flood_bytes=1000)
        with trio.fail_after(PATIENCE):
            outcome = await processes.runner.run(command, on_output=listener)
        assert outcome.end == Exited(3)
        assert outcome.stopped_for is None
        assert (outcome.stdout.total, outcome.stderr.total) == (out, err)


async def test_who_floods_both_outputs_is_stopped_once_and_for_that(tmp_path: Path) -> None:
    source = "import os\nwhile True: os.write(1, b'o' * 60000); os.write(2, b'e' * 60000)"
    async with open_launcher(tmp_path) as processes:
        outcome = await processes.python(source, flood_bytes=200_000, wall_seconds=60.0)
        assert outcome.stopped_for == "output"
        assert await processes.is_healthy()
