"""A clone of an interpreter that waits, beside one that is started: whatever a program can ask, and however it ends,
there is no difference but those that `standby.py` names."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codec.programs import Exited
from tests.transports.process.house import open_launcher
from tests.transports.process.launcher.ahead.probes import PROBES
from tests.transports.process.launcher.solution import IS_CLONE, Solution


@pytest.fixture
async def solution(tmp_path: Path) -> AsyncIterator[Solution]:
    async with open_launcher(tmp_path) as processes:
        yield Solution(processes)


@pytest.mark.parametrize("name", PROBES)
async def test_a_clone_is_and_does_what_a_started_one_does(solution: Solution, name: str) -> None:
    source = PROBES[name]
    for module in ("ctypes", "socket", "struct", "helper"):
        if "OWN" in source:
            (solution.folder / f"{module}.py").write_text("OWN = __name__\n")
    solution.script.write_text(source)
    started = await solution.run(ahead=False)
    clone = await solution.as_clone(source)
    assert (clone.end, clone.stopped_for) == (started.end, started.stopped_for)
    assert clone.stdout.head.decode(errors="replace") == started.stdout.head.decode(errors="replace")
    assert clone.stderr.head.decode(errors="replace") == started.stderr.head.decode(errors="replace")
    assert clone.stdout.total + clone.stderr.total > 0 or clone.end != Exited(0)


async def test_the_script_the_input_and_the_folder_are_those_of_the_moment(solution: Solution) -> None:
    """Nothing of them is known before: they may have been edited, or replaced."""
    await solution.warm()
    elsewhere = solution.folder.with_name("before")
    for word in ("edited", "replaced", "edited again"):
        if word == "replaced":
            solution.folder.rename(elsewhere)
            solution.folder.mkdir()
        solution.script.write_text(f"import os\nprint({word!r}, input(), os.listdir(), {IS_CLONE})")
        solution.given.write_text(f"given {word}")
        (solution.folder / word).touch()
        said = (await solution.run()).stdout.head.decode()
        listed = sorted(os.listdir(solution.folder))
        assert said.startswith(f"{word} given {word} [")
        assert sorted(eval(said[said.index("[") : said.index("]") + 1])) == listed
        assert said.endswith(" True\n")
