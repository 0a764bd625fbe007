"""A file is edited during a run, and changed back at once: which results may be of the other version."""

from typing import Any

import pytest

from actors.store import StateDirectory
from codec.judge import SHOWN, RunSettings
from tests.judge.kit import Court, Folders, Watching, an_outcome, judging

A = "abc1/abc1_a"
TASK = ("abc1", "abc1_a")
LONG = "2" * SHOWN + "\n"
"""An answer that is read when its case is prepared. A short one was read when the run was ordered."""
COPIED = {"input": {"type": "file", "fileName": "a.in"}}

BEFORE, DURING, AFTER = "before", "during", "after"
SEEN_LATE, READ_EARLY = [False, True, False], [True, True, False]
MARKS: list[tuple[str, dict[str, Any], str, list[bool]]] = [
    ("main.py", {}, "solution", SEEN_LATE),
    ("tests/2.in", {}, "test", SEEN_LATE),
    ("tests/2.in", COPIED, "test", READ_EARLY),
    ("tests/2.out", {}, "test", [False, False, False]),
    ("tests/2.out", {"long": True}, "test", READ_EARLY),
    ("tests/1.in", {}, "test", [False, False, False]),
]
CASES = [
    pytest.param(name, fields, reason, moment, in_doubt, id=f"{name} {' '.join(fields)} {moment}")
    for name, fields, reason, marks in MARKS
    for moment, in_doubt in zip((BEFORE, DURING, AFTER), marks, strict=True)
]


async def run(court: Court, watching: Watching, name: str, moment: str, answer: str) -> list[str]:
    """Two cases, one after the other. The second is prepared while the first runs. Returns how it is marked."""

    async def touch() -> None:
        path = (*TASK, *name.split("/"))
        court.folders.touched[path] = court.folders.touched.get(path, 0) + 1
        watching.stir()
        await court.settled()

    page = await court.page()
    await page.say("ui/runAll", problemId=A)
    first = await court.machine.started(1)
    await court.settled()
    if moment == BEFORE:
        await touch()
    first.end(an_outcome(b"1\n"))
    second = await court.machine.started(2)
    if moment == DURING:
        await touch()
    second.end(an_outcome(answer.encode()))
    await page.heard("run/complete")
    if moment == AFTER:
        await touch()
    await page.say("ui/requestInit", problemId=A)
    results = (await page.heard("state/init"))["results"]
    assert [result["status"] for result in results] == ["pass", "pass"]
    return [reason for result in results if result["index"] == 2 for reason in result.get("outdated", ())]


@pytest.mark.parametrize(("name", "fields", "reason", "moment", "in_doubt"), CASES)
async def test_a_result_is_in_doubt_if_its_file_was_touched_from_when_it_was_read_until_the_program_ended(
    directory: StateDirectory, name: str, fields: dict[str, Any], reason: str, moment: str, in_doubt: bool
) -> None:
    watching, fields = Watching(), dict(fields)
    answer = LONG if fields.pop("long", False) else "2\n"
    async with judging(directory, configured=RunSettings(jobs=1), watching=lambda _: watching) as court:
        tests = [{"input": "1\n", "output": "1\n"}, {"input": "2\n", "output": answer}]
        await court.take_in(A, tests=tests, **fields)
        assert await run(court, watching, name, moment, answer) == [reason] * in_doubt


@pytest.mark.parametrize("moment", [BEFORE, DURING, AFTER])
async def test_where_to_look_takes_a_while_it_counts_from_when_the_case_was_prepared(
    directory: StateDirectory, moment: str
) -> None:
    watching, folders = Watching(), Folders(takes_a_while=True)
    async with judging(directory, folders, configured=RunSettings(jobs=1), watching=lambda _: watching) as court:
        await court.take_in(A, tests=[{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2)])
        assert await run(court, watching, "main.py", moment, "2\n") == ["solution"] * (moment != AFTER)


async def test_where_no_edit_is_told_the_folder_is_read_when_a_run_has_used_what_nobody_knows(
    directory: StateDirectory,
) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll", problemId=A)
        first = await court.machine.started(1)
        await court.settled()
        court.folders.files[*TASK, "main.py"] = b"print('edited')\n"
        for index, program in ((1, first), (2, None), (3, None)):
            running = program or await court.machine.started(index)
            running.end(an_outcome(f"{index}\n".encode()))
        await page.heard("run/complete")
        told = await page.heard("state/update")
        assert told["outdated"] == [{"index": 1, "reasons": ["solution"]}]
