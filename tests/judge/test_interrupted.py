"""Programs that were interrupted together with their launcher are run once more, alone, and nobody notices."""

import pytest

from actors.judge.verdicts import INTERFERENCE
from actors.store import StateDirectory
from codec.judge import RunSettings
from codec.programs import Outcome
from tests.judge.kit import Folders, Interrupted, Machine, Program, an_outcome, judging, right

A = "abc1/abc1_a"


@pytest.mark.parametrize("jobs", [1, 3])
async def test_whoever_was_interrupted_is_run_again_and_nobody_sees_it(directory: StateDirectory, jobs: int) -> None:
    seen: set[int] = set()

    def once(program: Program) -> Outcome | Exception:
        first = program.index not in seen
        seen.add(program.index)
        return Interrupted() if first else right(program)

    async with judging(directory, machine=Machine(once), configured=RunSettings(jobs=jobs)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        indices, complete = await page.ended()
        assert indices == [1, 2, 3]
        assert complete["summary"]["passed"] == 3
        assert court.machine.alone == 3
        assert len(court.machine.programs) == 6
        assert not page.all("notice")


async def test_it_is_run_again_in_a_folder_made_anew(directory: StateDirectory) -> None:
    folders = Folders(writes={"a.out": b"1\n"})
    answers: list[Outcome | Exception] = [Interrupted(), an_outcome()]
    async with judging(directory, folders, Machine(lambda program: answers.pop(0))) as court:
        await court.take_in(A, tests=[{"input": "1\n", "output": "1\n"}], output={"type": "file", "fileName": "a.out"})
        page = await court.page()
        await page.say("ui/runAll")
        assert (await page.ended())[1]["summary"]["passed"] == 1
        first, second = folders.privates
        assert first.path != second.path


async def test_who_is_found_to_interfere_is_told_so_and_no_fault_of_the_judge_is(directory: StateDirectory) -> None:
    interferes = an_outcome(signal=9, stopped_for="interference")
    async with judging(directory, machine=Machine(lambda program: interferes)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        result = (await page.heard("run/result"))["result"]
        assert (result["status"], result["verdict"], result["reason"]) == ("re", "RE", INTERFERENCE)
