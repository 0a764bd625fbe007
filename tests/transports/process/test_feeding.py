"""A program's input, where it comes in parts."""

from pathlib import Path

import pytest

from codec.programs import Bounds
from tests.transports.process.house import open_launcher
from transports.process.command import Command

pytestmark = pytest.mark.slow

PARTS = {
    "nothing": (),
    "empty ones": (b"", b"", b""),
    "one": (b"a\n",),
    "empty ones between": (b"", b"a", b"", b"b" * 300_000, b"", b"c"),
    "more than a pipe holds": (b"x" * 1_000_001, b"y" * 70_000, b"z" * 3_000_000),
}


@pytest.mark.parametrize("parts", PARTS)
async def test_parts_are_given_one_after_the_other(tmp_path: Path, parts: str) -> None:
    given = PARTS[parts]
    async with open_launcher(tmp_path) as processes:
        bounds = Bounds(wall_seconds=60.0, output_bytes=8 << 20)
        outcome = await processes.runner.run(Command(["/bin/cat"], tmp_path, {}, given, bounds))
        assert outcome.stdout.head == b"".join(given)
        assert await processes.is_healthy()
