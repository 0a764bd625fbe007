"""Runs: in what order they are told, who ends them, and what is left of them."""

import pytest
import trio
from msgspec import convert
from msgspec.structs import replace

from actors.judge.messages.problem import CaseJudged
from actors.judge.problem import MANY_RUNS
from actors.judge.registered import RUNS
from actors.judge.run import FILE_BYTES, PROCESSES
from actors.kernel import KernelError
from actors.store import StateDirectory
from codec.judge import RunResult, RunSettings
from codec.programs import Outcome
from tests.judge.kit import CORES, PATIENCE, Court, Folders, Json, Machine, Page, an_outcome, judging, right

A, B = "abc1/abc1_a", "abc1/abc1_b"


async def running(court: Court, page: Page, **wish: object) -> None:
    await page.say("ui/runAll", **wish)
    await page.heard("run/progress", lambda said: said["running"])


def verdict(said: Json) -> tuple[str, str]:
    return said["result"]["status"], said["result"]["verdict"]


# -- order


async def test_results_are_told_in_the_order_of_indices_though_cases_end_in_any(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=3)) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        for index in (3, 2, 1):
            (await court.machine.started(index)).end(an_outcome(f"{index}\n".encode()))
            await court.settled()
            assert len(page.all("run/result")) == (0 if index > 1 else 3)
        indices, complete = await page.ended()
        assert indices == [1, 2, 3]
        assert complete["summary"] | {"durationMs": 0} == {
            "total": 3, "passed": 3, "failed": 0, "timeouts": 0, "res": 0, "durationMs": 0,
        }  # fmt: skip
        assert "cancelled" not in complete


async def test_progress_names_the_lowest_case_that_is_not_judged(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        told = [(said["running"], said.get("currentIndex")) for said in page.told if said["type"] == "run/progress"]
        assert told == [(True, 1), (True, 2), (True, 3), (False, None)]
        kinds = [said["type"] for said in page.told if said["type"].startswith("run/")]
        assert kinds[-2:] == ["run/progress", "run/complete"]


async def test_so_many_cases_run_at_once_as_there_are_cores(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, tests=[{"input": f"{n}\n", "output": f"{n}\n"} for n in range(1, 8)])
        page = await court.page()
        await running(court, page)
        for index in range(1, 8):
            (await court.machine.started(index)).end(an_outcome(f"{index}\n".encode()))
        assert (await page.ended())[0] == list(range(1, 8))
        assert court.machine.most == CORES


async def test_a_case_took_as_long_as_its_program_by_the_clock_on_the_wall(directory: StateDirectory) -> None:
    took = replace(an_outcome(b"1\n"), wall_seconds=12.3456)
    async with judging(directory, machine=Machine(lambda program: took)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        assert (await page.heard("run/result"))["result"]["durationMs"] == 12_346


@pytest.mark.parametrize("is_running", [True, False])
async def test_what_an_earlier_run_still_says_is_nothing_of_this_one(
    directory: StateDirectory, is_running: bool
) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        (run,) = court["runs"].children()
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        result = convert((await page.heard("run/result"))["result"], RunResult)
        await page.say("ui/cancel")
        await page.ended()
        if is_running:
            await running(court, page)
        told = len(page.told)
        await court.problem().send(CaseJudged(run, result, None))
        await court.settled()
        assert [said for said in page.told[told:] if said["type"] == "run/result"] == []
        assert court.problem().alive


@pytest.mark.parametrize(
    ("kind", "wish", "run"),
    [
        ("ui/runAll", {}, [1, 2, 3]),
        ("ui/runAll", {"indices": None}, [1, 2, 3]),
        ("ui/runAll", {"indices": [3, 1, 3]}, [1, 3]),
        ("ui/runOne", {"index": 2}, [2]),
    ],
)
async def test_what_is_asked_for_is_run(
    directory: StateDirectory, kind: str, wish: dict[str, object], run: list[int]
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say(kind, **wish)
        indices, complete = await page.ended()
        assert indices == run
        assert complete["scope"] == ("one" if kind == "ui/runOne" else "all")
        assert complete["problemId"] == A


async def test_results_of_cases_that_were_not_run_stay(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        court.machine.answer = lambda program: an_outcome(b"wrong\n")
        await page.say("ui/runOne", index=2)
        await page.ended()
        await page.say("ui/requestInit")
        init = await page.heard("state/init")
        assert [result["status"] for result in init["results"]] == ["pass", "fail", "pass"]


# -- one at a time


async def test_a_second_run_is_refused_while_one_is_under_way(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        await running(court, page)
        await other.say("ui/runOne", index=1)
        said = await other.heard("notice")
        assert said["message"] == f"{A} is being run already. Wait for the end of that run, or cancel it."
        assert said["level"] == "info", "the page shows it for a while: it ends with that run"
        assert (await other.heard("run/progress"))["running"] is True
        await court.machine.started(2)
        assert len(court.machine.programs) == CORES


async def test_who_is_refused_a_run_is_told_of_none_whose_end_it_will_not_be_told(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await page.say("ui/openProblem", id=A)
        await page.heard("state/init")
        await running(court, page)
        await other.say("ui/runAll", problemId=A)
        assert "is being run already" in await other.notice()
        await court.settled()
        assert not other.all("run/progress")


async def test_who_asks_for_one_run_more_than_can_be_is_told_so_in_words_and_may_ask_again(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.desk.MOST_RUNS", 1)
    async with judging(directory) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await running(court, page, problemId=A)
        await other.say("ui/runAll", problemId=B)
        assert await other.notice() == MANY_RUNS
        assert (await other.heard("run/progress"))["running"] is False
        await page.say("ui/cancel", problemId=A)
        await page.heard("run/complete")
        await running(court, other, problemId=B)


async def test_two_problems_run_side_by_side(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page()
        await page.say("ui/runOne", index=1, problemId=A)
        first = await court.machine.started(1)
        await page.say("ui/runOne", index=1, problemId=B)
        await court.machine.started(1, 2)
        assert not first.ended.is_set()


async def test_a_run_of_a_problem_that_the_panel_does_not_show_is_of_that_problem(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A, B)
        page, other = await court.page(), await court.page()
        await other.say("ui/openProblem", id=A)
        await other.heard("state/init")
        await page.say("ui/runOne", index=1, problemId=A)
        assert (await other.ended())[1]["problemId"] == A
        indices, complete = await page.ended()  # who has asked is told, too
        assert (indices, complete["problemId"]) == ([1], A)


# -- cancelling


async def test_a_cancelled_run_says_so_and_keeps_what_it_had_judged(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        second = await court.machine.started(2)
        await page.say("ui/cancel")
        last = await page.heard("run/progress", lambda said: not said["running"])
        _, complete = await page.ended()
        assert last["scope"] == "all"
        assert (complete["cancelled"], complete["summary"]["total"], complete["summary"]["passed"]) == (True, 1, 1)
        assert second.cancelled
        assert not court.machine.running
        assert len(court.machine.programs) == 2
        await page.say("ui/requestInit")
        assert [result["index"] for result in (await page.heard("state/init"))["results"]] == [1]


async def test_a_run_can_be_cancelled_before_its_first_case(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.say("ui/cancel")
        _, complete = await page.ended()
        assert (complete["cancelled"], complete["summary"]["total"]) == (True, 0)
        assert not court.machine.running
        court.machine.answer = right
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


async def test_where_nothing_runs_there_is_nothing_to_cancel(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/cancel")
        assert await page.notice() == f"{A} is not running."


async def test_the_last_panel_that_leaves_cancels_what_it_has_asked_for(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        program = await court.machine.started(1)
        page.leave()
        await court.settled()
        assert program.cancelled
        again = await court.page(greets=False)
        init = await again.greet()
        assert "running" not in init
        assert "interrupted" not in init


@pytest.mark.parametrize("late", [True, False], ids=["ended before it heard", "ended as it hears"])
async def test_a_case_that_ends_while_its_run_is_cancelled_is_no_loss(directory: StateDirectory, late: bool) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        program = await court.machine.started(1)
        (run,) = court.house.stage.registry.get(RUNS).children()
        if late:
            run.begin_stop()
        program.end(an_outcome(b"1\n"))
        run.begin_stop()
        _, complete = await page.ended()
        assert complete["cancelled"]
        assert court.house.stage.dead_count == 0


async def test_who_asks_for_a_run_and_has_gone_before_it_begins_is_told_nothing(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        court.folders.gates["find"] = trio.Event()
        await page.say("ui/runAll")
        await court.settled()
        page.leave()
        await page.over.wait()
        before = court.house.stage.dead_count
        court.folders.gates["find"].set()
        await court.settled()
        assert not court.machine.running
        assert court.house.stage.dead_count == before


async def test_a_run_goes_on_while_another_panel_looks(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        await running(court, page)
        page.leave()
        await court.settled()
        court.machine.answer = right
        for program in list(court.machine.running):
            program.end(right(program))
        indices, complete = await other.ended()
        assert indices == [1, 2, 3]
        assert "cancelled" not in complete


async def test_a_run_ends_with_the_last_that_looks_after_its_asker_has_gone(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page, other = await court.page(), await court.page()
        await running(court, page)
        program = await court.machine.started(1)
        page.leave()
        await court.settled()
        assert not program.cancelled
        other.leave()
        await court.settled()
        assert program.cancelled


async def test_a_run_goes_on_while_its_panel_shows_another_problem(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        await court.take_in("abc2/abc2_a")
        await page.say("ui/openProblem", id="abc2/abc2_a")
        assert (await page.heard("state/init"))["problem"]["id"] == "abc2/abc2_a"
        court.machine.answer = right
        for program in list(court.machine.running):
            program.end(right(program))
        indices, complete = await page.ended()
        assert (indices, complete["problemId"]) == ([1, 2, 3], A)
        await page.say("ui/openProblem", id=A)
        init = await page.heard("state/init")
        assert [result["status"] for result in init["results"]] == ["pass"] * 3
        assert init["summary"]["passed"] == 3


async def test_a_panel_that_came_meanwhile_is_shown_how_far_the_run_is(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        await court.machine.started(2)
        late = await court.page(greets=False)
        init = await late.greet()
        assert init["running"] == {"scope": "all", "currentIndex": 2, "run": 1, "indices": [1, 2, 3]}
        assert [result["index"] for result in init["results"]] == [1]


# -- what goes wrong


@pytest.mark.parametrize(
    ("outcome", "status", "words"),
    [
        (KernelError("the launcher has ended; run it again"), "re", "the launcher has ended; run it again"),
        (OSError(5, "Input/output error"), "re", "the files of case 2 cannot be used: Input/output error"),
        (ZeroDivisionError("our own mistake"), "re", "our own mistake"),
    ],
)
async def test_a_case_that_fails_on_our_side_is_said_to_and_the_others_go_on(
    directory: StateDirectory, outcome: Exception, status: str, words: str
) -> None:
    machine = Machine(lambda program: outcome if program.index == 2 else right(program))
    async with judging(directory, machine=machine) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        indices, complete = await page.ended()
        results = [said["result"] for said in page.all("run/result")]
        assert indices == [1, 2, 3]
        assert [result["verdict"] for result in results] == ["AC", "IE", "AC"]
        assert results[1]["status"] == status
        assert words in results[1]["reason"]
        assert complete["summary"]["res"] == 1
        assert "cancelled" not in complete


async def test_of_cases_that_all_fail_on_our_side_each_is_said_to(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(lambda program: ZeroDivisionError("our own mistake"))) as court:
        await court.take_in(A, tests=[{"input": f"{n}\n", "output": f"{n}\n"} for n in range(1, 31)])
        page = await court.page()
        await page.say("ui/runAll")
        indices, complete = await page.ended()
        assert indices == list(range(1, 31))
        assert {verdict(said) for said in page.all("run/result")} == {("re", "IE")}
        assert complete["summary"]["res"] == 30
        assert "cancelled" not in complete


async def test_a_run_has_no_more_workers_than_cases_and_twice_as_many_as_run_at_once(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, tests=[{"input": f"{n}\n", "output": f"{n}\n"} for n in range(1, 31)])
        page = await court.page()
        await running(court, page)
        await court.settled()
        (run,) = court["runs"].children()
        assert len(run.children()) == 2 * CORES
        assert [worker.statistics().note for worker in run.children()][:2] == ["case 1", "case 2"]
        await page.say("ui/cancel")
        await page.ended()
        await page.say("ui/runOne", index=7)
        await court.machine.started(7)
        (run,) = court["runs"].children()
        assert len(run.children()) == 1


async def test_where_there_is_little_room_no_case_waits_for_one_that_has_none(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right, rooms=2), configured=RunSettings(jobs=2)) as court:
        long = f"1{' ' * 20_000}\n"  # has to be read first, which takes longer than all that the others need
        tests = [{"input": f"{n}\n", "output": long if n == 1 else f"{n}\n"} for n in range(1, 7)]
        await court.take_in(A, tests=tests)
        page = await court.page()
        court.folders.gates["read"] = trio.Event()
        await running(court, page)
        await court.settled()
        assert not court.machine.programs
        court.folders.gates["read"].set()
        assert (await page.ended())[0] == [1, 2, 3, 4, 5, 6]


async def test_a_case_that_was_removed_meanwhile_is_said_to(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        long = "x" * 20_000  # which is read only when it is needed
        await court.take_in(A, tests=[{"input": f"{number}\n", "output": long} for number in (1, 2, 3)])
        page = await court.page()
        await running(court, page)
        first = await court.machine.started(1)
        for kind in ("in", "out"):
            del court.folders.files[("abc1", "abc1_a", "tests", f"3.{kind}")]
        court.machine.answer = right
        first.end(right(first))
        assert (await page.ended())[0] == [1, 2, 3]
        result = next(
            said["result"] for said in page.told if said["type"] == "run/result" and said["result"]["index"] == 3
        )
        assert result["reason"] == "the files of case 3 cannot be used: No such file or directory"


async def test_a_problem_that_crashes_ends_its_run_and_its_panels_stay(directory: StateDirectory) -> None:
    async with judging(directory, configured=RunSettings(jobs=1)) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        program = await court.machine.started(2)
        court.folders.trouble = lambda call, task: ZeroDivisionError("our own mistake") if call == "read" else None
        await page.say("ui/requestCase", index=1)
        init = await page.heard("state/init")
        court.folders.trouble = lambda call, task: None
        assert program.cancelled
        assert "running" not in init
        assert init["interrupted"] is True
        assert [result["index"] for result in init["results"]] == [1]
        court.machine.answer = right
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


async def test_a_run_that_crashes_is_said_to_and_can_be_had_again(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        await running(court, page)
        program = await court.machine.started(1)
        court["runs"].children()[0].kill()
        assert await page.notice() == f"The run of {A} has failed: killed. Run it again."
        assert (await page.ended())[1]["cancelled"] is True
        assert program.cancelled
        court.machine.answer = right
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


async def test_a_panel_whose_page_takes_nothing_is_let_go_and_nobody_else_waits(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        slow, page = await court.page(), await court.page()
        slow.line.takes = False
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]
        with trio.fail_after(PATIENCE):
            await slow.over.wait()
        assert len(court["panels"].children()) == 1


# -- what a program is given


async def test_a_program_is_given_its_limits_its_input_and_the_workspace(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        await page.ended()
        (program,) = court.machine.programs
        assert program.argv == ("/bin/python3", "/workspace/abc1/abc1_a/main.py")
        assert program.cwd == court.folders.root
        assert program.stdin == court.folders.path(("abc1", "abc1_a"), "tests", "1.in")
        bounds = program.bounds
        assert (bounds.cpu_seconds, bounds.wall_seconds, bounds.memory_bytes) == (2.4, 7.2, 256 << 20)
        assert (bounds.processes, bounds.file_bytes) == (PROCESSES, FILE_BYTES)


async def test_a_program_may_be_run_in_its_own_folder(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right), configured=RunSettings(run_cwd_mode="task")) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        await page.ended()
        assert court.machine.programs[0].cwd == court.folders.path(("abc1", "abc1_a"))


async def test_a_problem_with_files_is_run_in_a_folder_of_its_own(directory: StateDirectory) -> None:
    folders = Folders(writes={"sum.out": b"1\n"})
    async with judging(directory, folders, Machine(lambda program: an_outcome(b"noise"))) as court:
        fields = {"input": {"type": "file", "fileName": "sum.in"}, "output": {"type": "file", "fileName": "sum.out"}}
        await court.take_in(A, tests=[{"input": "1\n", "output": "1\n"}], **fields)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        result = page.all("run/result")[0]["result"]
        (program,) = court.machine.programs
        (private,) = folders.privates
        assert (result["status"], result["actual"]) == ("pass", "1\n")
        assert (program.cwd, program.stdin) == (private.path, None)
        assert private.files["sum.in"] == b"1\n"


async def test_input_may_be_a_file_while_output_is_not(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(lambda program: an_outcome(b"1\n"))) as court:
        await court.take_in(A, tests=[{"input": "1\n", "output": "1\n"}], input={"type": "file", "fileName": "a.in"})
        page = await court.page()
        await page.say("ui/runAll")
        assert (await page.ended())[1]["summary"]["passed"] == 1
        assert court.machine.programs[0].stdin is None


async def test_output_may_be_a_file_while_input_is_not(directory: StateDirectory) -> None:
    folders = Folders(writes={"a.out": b"1\n"})
    async with judging(directory, folders, Machine(lambda program: an_outcome())) as court:
        await court.take_in(A, tests=[{"input": "1\n", "output": "1\n"}], output={"type": "file", "fileName": "a.out"})
        page = await court.page()
        await page.say("ui/runAll")
        assert (await page.ended())[1]["summary"]["passed"] == 1
        assert court.machine.programs[0].stdin == court.folders.path(("abc1", "abc1_a"), "tests", "1.in")


async def test_a_program_that_writes_its_answer_elsewhere_is_told_where_it_was_to_be(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(lambda program: an_outcome(b"1\n"))) as court:
        await court.take_in(A, output={"type": "file", "fileName": "a.out"})
        page = await court.page()
        await page.say("ui/runOne", index=1)
        said = await page.heard("run/result")
        assert verdict(said) == ("fail", "WA")
        assert said["result"]["reason"] == "it has not written a.out, the file for the answer"


# -- what is told of it


CRASHED = b"Traceback (most recent call last):\n  File\nValueError: no\n"


@pytest.mark.parametrize(
    ("ran", "told", "reason"),
    [
        (an_outcome(b"2\n"), ("fail", "WA"), None),
        (an_outcome(signal=9, stopped_for="cpu", cpu_seconds=2.5), ("timeout", "TLE"), "2,500 ms of CPU"),
        (an_outcome(signal=9, stopped_for="wall"), ("timeout", "TLE"), "of waiting"),
        (an_outcome(signal=9, stopped_for="memory", peak_bytes=300 << 20), ("re", "MLE"), "300 MB"),
        (an_outcome(signal=9, stopped_for="output"), ("re", "OLE"), "too much"),
        (an_outcome(signal=9, stopped_for="processes"), ("re", "RE"), "too many processes"),
        (an_outcome(signal=11), ("re", "RE"), "SIGSEGV"),
        (an_outcome(exit_code=1, errors=CRASHED), ("re", "RE"), "exit code 1"),
        (an_outcome(b"1\n", exit_code=1), ("re", "RE"), "exit code 1"),
    ],
)
async def test_a_result_has_the_specs_status_and_a_finer_verdict(
    directory: StateDirectory, ran: Outcome, told: tuple[str, str], reason: str | None
) -> None:
    async with judging(directory, machine=Machine(lambda program: ran)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        said = await page.heard("run/result")
        assert verdict(said) == told
        assert (reason or "") in said["result"].get("reason", "")
        if told == ("fail", "WA"):
            assert said["result"]["diffSummary"] == "line 1: expected '1' got '2'"
        assert said["result"]["console"] == ran.stderr.head.decode()


async def test_a_long_output_is_compared_whole_and_told_in_part(directory: StateDirectory) -> None:
    long = "x" * 300_000 + "\n"
    machine = Machine(lambda program: an_outcome(long.encode()))
    async with judging(directory, machine=machine) as court:
        await court.take_in(A, tests=[{"input": "1\n", "output": long}])
        page = await court.page()
        await page.say("ui/runOne", index=1)
        result = (await page.heard("run/result"))["result"]
        assert (result["status"], result["actualSize"], result["actualCut"]) == ("pass", 300_001, True)
        assert len(result["actual"]) == 16_384
        assert machine.programs[0].bounds.output_bytes > 2 * len(long)


async def test_a_busy_machine_is_named(directory: StateDirectory) -> None:
    machine = Machine(lambda program: replace(right(program), contended=True))
    async with judging(directory, machine=machine) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        assert (await page.heard("run/result"))["result"]["contended"] is True
