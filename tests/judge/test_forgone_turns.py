"""A case that fails before its program has begun gives its turn away."""

import errno

import pytest

from actors.store import StateDirectory
from codec.judge import RunSettings
from tests.judge.kit import Machine, judging, right

A = "abc1/abc1_a"
LONG = "x" * 20_000
"""An answer that is read only when it is needed."""


@pytest.mark.parametrize("unreadable", [{1}, {2}, {1, 2}, {1, 2, 3}])
async def test_cases_whose_answers_cannot_be_read_hold_up_none_of_the_others(
    directory: StateDirectory, unreadable: set[int]
) -> None:
    async with judging(directory, machine=Machine(right), configured=RunSettings(jobs=1)) as court:
        tests = [{"input": f"{n}\n", "output": LONG if n in unreadable else f"{n}\n"} for n in range(1, 6)]
        await court.take_in(A, tests=tests)
        page = await court.page()
        court.folders.trouble = lambda call, _: OSError(errno.EIO, "Input/output error") if call == "read" else None
        await page.say("ui/runAll")
        indices, _ = await page.ended()
        told = {said["result"]["index"]: said["result"]["verdict"] for said in page.all("run/result")}
        assert indices == [1, 2, 3, 4, 5]
        assert told == {index: "IE" if index in unreadable else "AC" for index in indices}
