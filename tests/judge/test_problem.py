"""A problem: what is written when it is posted, what a page is shown, what is kept."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import pytest
import trio

from actors.judge.intake import NotKept
from actors.judge.telling import trouble
from actors.kernel import Registry
from actors.kernel.testing import House
from actors.store import STORE, Refused, StateDirectory, StoreClient
from actors.store.database import Database
from codec.judge import SHOWN, RunSettings
from tests.judge.kit import Court, Folders, Json, Machine, Page, Program, Watching, an_outcome, judging, post, right

A, B = "abc1/abc1_a", "abc1/abc1_b"
TESTS = ("abc1", "abc1_a", "tests")


def texts(files: Mapping[tuple[str, ...], bytes]) -> dict[str, bytes]:
    return {path[-1]: content for path, content in sorted(files.items()) if path[:3] == TESTS}


def samples(*pairs: str) -> Json:
    return {"tests": [{"input": f"{pair}\n", "output": f"{pair}\n"} for pair in pairs]}


# -- posts


async def test_a_post_adds_after_the_highest_index_and_overwrites_nothing(directory: StateDirectory) -> None:
    folders = Folders({(*TESTS, "1.in"): b"mine\n", (*TESTS, "1.out"): b"mine\n", (*TESTS, "4.in"): b"half\n"})
    folders.files["abc1", "abc1_a", "main.py"] = b"my own\n"
    async with judging(directory, folders) as court:
        await court.take_in(A, **samples("7"))
        assert texts(folders.files) == {
            "1.in": b"mine\n", "1.out": b"mine\n", "4.in": b"half\n", "5.in": b"7\n", "5.out": b"7\n",
        }  # fmt: skip
        assert folders.files["abc1", "abc1_a", "main.py"] == b"my own\n"


async def test_posting_again_adds_nothing_and_a_new_case_comes_behind(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        for tests in (["1", "2"], ["1", "2"], ["2", "3"]):
            await court.take_in(A, **samples(*tests))
        assert sorted(texts(court.folders.files)) == ["1.in", "1.out", "2.in", "2.out", "3.in", "3.out"]
        counts = [len(said["problem"]["cases"]) for said in page.told if said["type"] == "state/update"]
        assert counts[-2:] == [2, 3]


async def test_two_posts_of_one_problem_at_once_are_one_after_the_other(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, A, A, A)
        assert len(texts(court.folders.files)) == 6


async def test_what_is_being_written_is_written_though_the_problem_is_to_stop(directory: StateDirectory) -> None:
    folders = Folders(gates={"add": trio.Event()})
    async with judging(directory, folders) as court:
        await court.take_in(A)
        court.problem().begin_stop()
        await court.settled()
        folders.gates["add"].set()
        await court.settled()
        assert list(texts(folders.files)) == ["1.in", "1.out", "2.in", "2.out", "3.in", "3.out"]


async def test_a_post_while_a_run_goes_on_does_not_disturb_it(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, **samples("1", "2"))
        page = await court.page()
        await page.say("ui/runAll")
        program = await court.machine.started(1)
        await court.take_in(A, **samples("9"))
        assert len((await page.heard("state/update"))["problem"]["cases"]) == 3
        assert not program.ended.is_set()
        for running in court.machine.running:
            running.end(right(running))
        indices, complete = await page.ended()
        assert indices == [1, 2]
        assert "cancelled" not in complete


async def test_results_outlive_a_second_post(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        await court.take_in(B)
        await court.take_in(A)
        update = await page.heard("state/update", lambda said: said["problem"]["id"] == A)
        init = await page.heard("state/init")
        assert update["problem"] == init["problem"]
        assert len(init["results"]) == 3


async def test_a_problem_is_told_as_the_spec_has_it(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(A, **samples("1"), timeLimit=None)
        problem = (await page.heard("state/update"))["problem"]
        assert {name: problem[name] for name in ("name", "group", "contestId", "taskId", "testsDir", "id")} == {
            "name": "abc1_a", "group": "abc1", "contestId": "abc1", "taskId": "abc1_a", "testsDir": "tests", "id": A,
        }  # fmt: skip
        assert (problem["timeLimit"], problem["memoryLimit"], problem["interactive"]) == (2000, 256, False)
        assert problem["mainPath"] == "/workspace/abc1/abc1_a/main.py"
        (case,) = problem["cases"]
        assert (case["index"], case["inputContent"], case["expectedContent"]) == (1, "1\n", "1\n")
        assert case["inputPath"] == "/workspace/abc1/abc1_a/tests/1.in"


@pytest.mark.slow
async def test_of_very_many_cases_less_of_each_is_told(directory: StateDirectory) -> None:
    long = "x" * 16_000
    many = [{"input": f"{number}{long}", "output": f"{number}{long}"} for number in range(500)]
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(A, tests=many)
        cases = (await page.heard("state/update"))["problem"]["cases"]
        assert len(cases) == 500
        assert sum(len(case["inputContent"]) + len(case["expectedContent"]) for case in cases) <= 8 << 20
        assert all(case["inputCut"] and case["inputSize"] > 16_000 for case in cases)
        await page.say("ui/requestCase", index=1)
        assert len((await page.heard("state/case"))["case"]["inputContent"]) == 16_002


async def test_all_of_a_long_output_is_shown_to_whoever_asks(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(lambda program: an_outcome(b"y" * 50_000))) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runOne", index=1)
        result = (await page.heard("run/result"))["result"]
        assert (len(result["actual"]), result["actualSize"], result["actualCut"]) == (SHOWN, 50_000, True)
        await page.heard("run/complete")
        await page.say("ui/requestCase", index=1)
        shown = (await page.heard("state/case"))["result"]
        assert (shown["actual"], shown["actualSize"]) == ("y" * 50_000, 50_000)
        assert "actualCut" not in shown


# -- why it cannot be run


@pytest.mark.parametrize(
    ("fields", "wish", "sentence"),
    [
        ({"interactive": True}, {}, "This problem is interactive: its tests cannot be run here."),
        (
            {"input": {"type": "regex", "pattern": "a.*"}},
            {},
            "This problem's input is a file that you download (its name matches a.*). Run your solution on that file "
            "yourself.",
        ),
        (
            {"tests": []},
            {},
            "abc1/abc1_a has no tests. Put some into /workspace/abc1/abc1_a/tests, as 1.in and 1.out.",
        ),
        ({}, {"indices": [9, 2]}, "abc1/abc1_a has no case 9; there are 1, 2, 3."),
        ({}, {"indices": []}, "The request names no case of abc1/abc1_a; leave out indices to run all of them."),
    ],
)
async def test_a_run_that_cannot_be_is_refused_in_words(
    directory: StateDirectory, fields: Json, wish: Json, sentence: str
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A, **fields)
        page = await court.page()
        await page.say("ui/runAll", **wish)
        assert await page.notice() == sentence
        assert await page.heard("run/progress") == {
            "type": "run/progress", "scope": "all", "running": False, "problemId": A,
        }  # fmt: skip
        assert not court.machine.programs


async def test_what_cannot_be_judged_says_so_when_it_is_shown(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(A, interactive=True)
        assert "interactive" in (await page.heard("state/update"))["problem"]["unsupported"]


async def test_without_a_solution_there_is_no_run(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        del court.folders.files["abc1", "abc1_a", "main.py"]
        await page.say("ui/runAll")
        assert "There is no solution: /workspace/abc1/abc1_a/main.py is missing." in await page.notice()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (RunSettings(interpreter="pypy"), ("no PyPy to run this with: 'pypy3' is nowhere. ", "apt install pypy3")),
        (
            RunSettings(python_command="python9"),
            ("no Python to run this with: 'python9' is nowhere. ", "Name one that works in the configuration"),
        ),
    ],
)
async def test_a_missing_interpreter_is_told_with_what_to_do(
    directory: StateDirectory, settings: RunSettings, words: tuple[str, ...]
) -> None:
    async with judging(directory, configured=settings) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        notice = await page.notice()
        assert all(word in notice for word in words)


async def test_a_folder_that_cannot_be_read_is_told_in_words(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        court.folders.trouble = lambda call, task: PermissionError(13, "Permission denied")
        await page.say("ui/runAll")
        assert await page.notice() == f"The folder of {A} cannot be read: Permission denied."
        await page.say("ui/requestInit")
        assert await page.notice() == f"The folder of {A} cannot be read: Permission denied."
        assert (await page.heard("state/init"))["problem"]["id"] == A
        await page.say("ui/requestCase", index=1)
        assert await page.notice() == f"Case 1 of {A} cannot be shown: Permission denied."


async def test_a_folder_that_cannot_be_read_is_told_once_for_each_reason_and_again_when_it_could_be_meanwhile(
    directory: StateDirectory,
) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()

        async def told(error: OSError | None) -> int:
            court.folders.trouble = lambda call, task: error
            before = len(page.all("notice"))
            for _ in range(3):
                await page.say("ui/look")
                await court.settled()
            return len(page.all("notice")) - before

        denied, failing = PermissionError(13, "Permission denied"), OSError(5, "Input/output error")
        assert [await told(error) for error in (denied, failing, None, failing)] == [1, 1, 0, 1]


async def test_a_page_shows_that_a_folder_cannot_be_read_until_it_can_be(directory: StateDirectory) -> None:
    """Whoever finds out, all pages are shown it; and also that it is over, though nothing else has changed."""
    sentence = f"The folder of {A} cannot be read: Permission denied."
    for finds_out in ("ui/look", "ui/runAll", "ui/requestInit"):
        async with judging(directory) as court:
            await court.take_in(A)
            page, other = await court.page(), await court.page()
            court.folders.trouble = lambda call, task: PermissionError(13, "Permission denied")
            await page.say(finds_out)
            await court.settled()
            for each in (page, other):
                shown = [message["problem"] for message in each.all("state/init") + each.all("state/update")]
                assert shown[-1]["trouble"] == sentence
            assert page.all("notice")[-1]["message"] == sentence
            court.folders.trouble = lambda call, task: None
            await other.say("ui/look")
            await court.settled()
            for each in (page, other):
                assert "trouble" not in each.all("state/update")[-1]["problem"]


async def test_files_that_are_passed_over_are_told_of_as_long_as_they_are(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        court.folders.odd["2.in"] = "a link"
        await page.say("ui/look")
        told = (await page.heard("state/update"))["problem"]["trouble"]
        assert told.startswith("Test 2 is left out: 2.in is a link. ")
        court.folders.odd.clear()
        await page.say("ui/look")
        assert "trouble" not in (await page.heard("state/update"))["problem"]


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        ({}, None),
        ({"main.py": "a folder"}, "main.py is a folder, and not a file."),
        (
            {"10.in": "a pipe"},
            "Test 10 is left out: 10.in is a pipe. A test needs two plain files, such as 10.in and 10.out.",
        ),
        (
            {"10.in": "a link", "10.out": "a link", "9.out": "missing"},
            "Tests 9 and 10 are left out: 9.out is missing, 10.in is a link and 10.out is a link. "
            "A test needs two plain files, such as 9.in and 9.out.",
        ),
        (
            {f"{number}.out": "missing" for number in range(1, 1006)} | {"main.py": "a pipe"},
            "main.py is a pipe, and not a file. "
            "Tests 1, 2, 3 and 1,002 more are left out: 1.out is missing, 2.out is missing and 3.out is missing. "
            "A test needs two plain files, such as 1.in and 1.out.",
        ),
    ],
)
def test_what_is_passed_over_is_named_with_the_reason(odd: dict[str, str], sentence: str | None) -> None:
    assert trouble(odd) == sentence


async def test_a_solution_that_is_no_file_is_not_said_to_be_missing(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        del court.folders.files[(*A.split("/"), "main.py")]
        court.folders.odd["main.py"] = "a folder"
        await page.say("ui/runAll")
        assert (await page.notice()).endswith("main.py is a folder, and not a file. Write it, and run again.")


async def test_a_case_is_shown_whole_when_it_is_asked_for(directory: StateDirectory) -> None:
    long = "y" * 100_000 + "\n"
    async with judging(directory) as court:
        await court.take_in(A, tests=[{"input": long, "output": "1\n"}])
        page = await court.page()
        await page.say("ui/requestCase", index=1)
        case = (await page.heard("state/case"))["case"]
        assert case["inputContent"] == long
        assert "inputCut" not in case
        await page.say("ui/requestCase", index=5)
        assert await page.notice() == f"Case 5 of {A} cannot be shown: No such file or directory."


async def test_tests_that_a_person_adds_are_seen_when_the_problem_is_run(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        court.folders.files |= {(*TESTS, "8.in"): b"8\n", (*TESTS, "8.out"): b"8\n"}
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3, 8]


# -- what is kept


async def test_results_and_problems_outlive_the_server(directory: StateDirectory) -> None:
    folders = Folders()
    async with judging(directory, folders, Machine(lambda program: an_outcome(b"1\n"))) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        before = [said["result"] for said in page.told if said["type"] == "run/result"]
        await court.settled()
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        init = await page.greet()
        assert init["results"] == before
        assert (init["summary"]["passed"], init["summary"]["failed"]) == (1, 2)
        assert "interrupted" not in init
        assert (init["problem"]["name"], init["problem"]["url"]) == (
            "abc1_a",
            f"https://atcoder.jp/contests/abc1/tasks/{A[5:]}",
        )
        listed = page.all("state/problems")[-1]["problems"]
        assert listed[0]["standing"] == {"passed": 1, "failed": 2}


async def test_a_problem_stands_as_its_cases_do_and_not_as_its_last_run_did(directory: StateDirectory) -> None:
    answer = Machine(lambda program: an_outcome(b"1\n"))
    async with judging(directory, machine=answer) as court:
        await court.take_in(A)
        page = await court.page()

        async def stands_after(kind: str, **fields: int) -> Json:
            await page.say(kind, **fields)
            await page.ended()
            await trio.sleep(1)
            stands: Json = page.all("state/problems")[-1]["problems"][0]["standing"]
            return stands

        assert await stands_after("ui/runOne", index=1) == {"passed": 1, "failed": 0}
        assert await stands_after("ui/runAll") == {"passed": 1, "failed": 2}
        assert await stands_after("ui/runOne", index=1) == {"passed": 1, "failed": 2}


@asynccontextmanager
async def in_the_middle(
    directory: StateDirectory, folders: Folders, watching: Callable[[Registry], Watching] | None = None
) -> AsyncIterator[tuple[Court, Page, Program]]:
    """Of a run of A's three cases one after the other, with the page that has asked for it and the second program."""
    async with judging(directory, folders, configured=RunSettings(jobs=1), watching=watching) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        second = await court.machine.started(2)
        await court.settled()
        yield court, page, second


async def test_a_run_that_the_server_did_not_live_to_end_was_interrupted(directory: StateDirectory) -> None:
    folders = Folders()
    async with in_the_middle(directory, folders) as (court, page, _):
        kill(court.house)
    async with judging(directory, folders, Machine(right)) as court:
        page = await court.page(greets=False)
        init = await page.greet()
        assert init["interrupted"] is True
        assert init["last"] == {"run": 1, "indices": [1, 2, 3], "cancelled": True}
        await page.say("ui/runAll")
        await page.ended()
        await page.say("ui/requestInit")
        assert "interrupted" not in await page.heard("state/init")


@pytest.mark.parametrize("pages_go_first", [True, False])
async def test_a_run_in_the_middle_of_which_the_server_is_stopped_in_order_was_interrupted_and_not_cancelled(
    directory: StateDirectory, pages_go_first: bool
) -> None:
    """And what it has come to is kept."""
    folders = Folders()
    async with in_the_middle(directory, folders) as (court, page, _):
        court.house.root.begin_stop()
        if pages_go_first:
            page.leave()
        await court.house.root.wait_stopped()
    async with judging(directory, folders, Machine(right)) as court:
        init = await (await court.page(greets=False)).greet()
        assert init["interrupted"] is True
        assert [result["index"] for result in init["results"]] == [1]


async def test_a_run_at_which_nobody_looks_any_more_notices_edits_all_the_same(directory: StateDirectory) -> None:
    """Also if what was edited is as before when somebody looks again."""
    folders, watching = Folders(), Watching()
    async with in_the_middle(directory, folders, lambda _: watching) as (court, page, second):
        await court.take_in(B)
        await page.say("ui/openProblem", id=B)
        await court.settled()
        main = (*TESTS[:2], "main.py")
        for number, content in enumerate((b"print('typo')\n", folders.files[main])):
            folders.files[main], folders.touched[main] = content, number
            watching.stir()
            await court.settled()
        second.end(an_outcome(b"typo\n"))
        (await court.machine.started(3)).end(an_outcome(b"3\n"))
        await page.heard("run/complete")
        await page.say("ui/openProblem", id=A)
        init = await page.heard("state/init", lambda said: said["problem"]["id"] == A)
        marked = {result["index"]: result.get("outdated") for result in init["results"]}
        assert marked == {1: None, 2: ["solution"], 3: None}
        assert watching.watched
        page.leave()
        await trio.sleep(60)
        assert not watching.watched


async def test_however_much_the_cases_complain_a_page_is_told_it_in_a_few_megabytes(directory: StateDirectory) -> None:
    complains = an_outcome(errors=b"x" * 200_000 + b"END")
    tests = [{"input": f"{number}\n", "output": "1\n"} for number in range(1, 101)]
    async with judging(directory, machine=Machine(lambda program: complains)) as court:
        await court.take_in(A, tests=tests)
        page = await court.page()
        await page.say("ui/runAll")
        await page.heard("run/complete")
        consoles = [result["console"] for result in (await page.greet())["results"]]
        assert len(consoles) == 100
        assert all(each.endswith("END") for each in consoles)
        assert 4_000_000 < sum(map(len, consoles)) < 5_000_000


@pytest.mark.parametrize("runs", [True, False])
async def test_the_list_says_after_a_restart_what_it_said_before(directory: StateDirectory, runs: bool) -> None:
    """Also of a folder that was edited since its last run."""
    folders, watching = Folders(), Watching()
    async with judging(directory, folders, Machine(right), watching=lambda _: watching) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/openProblem", id=A)
        if runs:
            await page.say("ui/runAll")
            await page.heard("run/complete")
        await court.settled()
        folders.files |= {(*TESTS, "9.in"): b"9\n", (*TESTS, "9.out"): b"9\n", (*TESTS[:2], "main.py"): b"print(0)\n"}
        watching.stir()
        await trio.sleep(2)
        (before,) = page.knows()
        assert before["cases"] == 4
        kill(court.house)
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        await page.say("ui/requestInit")
        await page.heard("state/problems")
        assert page.knows() == [before]


async def test_what_is_run_while_the_folder_cannot_be_read_is_no_result_of_what_is_there_later(
    directory: StateDirectory,
) -> None:
    """Another folder may have been in its place."""
    folders, watching = Folders(), Watching()
    async with in_the_middle(directory, folders, lambda _: watching) as (court, page, second):
        folders.trouble = lambda call, task: NotADirectoryError(20, "it is a link") if call == "find" else None
        folders.touched = dict.fromkeys(folders.files, 1)
        watching.stir()
        await page.notice()
        second.end(an_outcome(b"elsewhere\n"))
        third = await court.machine.started(3)
        folders.trouble = lambda call, task: None
        folders.touched = {}
        watching.stir()
        await court.settled()
        third.end(an_outcome(b"3\n"))
        await page.heard("run/complete")
        await page.say("ui/requestInit")
        init = await page.heard("state/init")
        marked = {result["index"]: result.get("outdated") for result in init["results"]}
        assert marked == {1: None, 2: ["solution", "test"], 3: ["solution", "test"]}


def kill(house: House) -> None:
    """Nobody has any last words."""
    house.root.kill()


async def test_what_a_long_run_has_come_to_is_kept_meanwhile(directory: StateDirectory) -> None:
    folders = Folders()
    async with in_the_middle(directory, folders) as (court, page, _):
        store = StoreClient(court.house.stage.registry.get(STORE))
        assert await store.get("judge/results", A) is None
        await trio.sleep(2.5)
        kill(court.house)
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        init = await page.greet()
        assert [result["index"] for result in init["results"]] == [1]
        assert init["interrupted"] is True


@pytest.mark.parametrize("posted", [True, False])
async def test_after_a_run_that_was_interrupted_the_list_says_what_the_problem_says(
    directory: StateDirectory, posted: bool
) -> None:
    folders = Folders()
    async with judging(directory, folders, configured=RunSettings(jobs=1)) as court:
        if posted:
            await court.take_in(A)
        folders.files |= {(*TESTS, f"{n}.{kind}"): f"{n}\n".encode() for n in range(1, 6) for kind in ("in", "out")}
        folders.files[*TESTS[:2], "main.py"] = b"pass\n"
    async with judging(directory, folders, configured=RunSettings(jobs=1)) as court:
        page = await court.page()
        await page.say("ui/openProblem", id=A)
        await page.say("ui/runAll")
        (await court.machine.started(1)).end(an_outcome(b"1\n"))
        (await court.machine.started(2)).end(an_outcome(b"1\n"))
        await court.machine.started(3)
        await court.take_in("abc2/abc2_a")
        await trio.sleep(2.5)
        kill(court.house)
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        assert (await page.greet())["problem"]["id"] == "abc2/abc2_a"

        def stands() -> Json:
            listed: list[Json] = page.all("state/problems")[-1]["problems"]
            return next(each for each in listed if each["id"] == A)

        assert stands()["standing"] == {"passed": 1, "failed": 1}
        await page.say("ui/openProblem", id=A)
        assert [result["status"] for result in (await page.heard("state/init"))["results"]] == ["pass", "fail"]
        await trio.sleep(1)
        assert (stands()["standing"], stands()["cases"]) == ({"passed": 1, "failed": 1}, 5)


async def test_what_a_person_does_to_the_folder_is_seen_in_the_list_when_the_problem_is_opened(
    directory: StateDirectory,
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        await trio.sleep(1)
        for kind in ("in", "out"):
            del court.folders.files[(*TESTS, f"2.{kind}")]
        await page.say("ui/openProblem", id=A)
        await trio.sleep(1)
        [listed] = page.all("state/problems")[-1]["problems"]
        assert (listed["cases"], listed["standing"]) == (2, {"passed": 2, "failed": 0})
        before = len(page.all("state/problems"))
        await page.say("ui/openProblem", id=A)
        await trio.sleep(1)
        assert len(page.all("state/problems")) == before


@pytest.mark.slow
async def test_very_many_results_are_kept_with_less_of_their_texts(directory: StateDirectory) -> None:
    folders = Folders()
    many = [{"input": f"{number}\n", "output": f"{number}\n"} for number in range(300)]
    machine = Machine(lambda program: an_outcome("é".encode() * 8000))
    async with judging(directory, folders, machine) as court:
        await court.take_in(A, tests=many)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        await court.settled()
        assert not [said for said in page.told if said["type"] == "notice"]
    async with judging(directory, folders) as court:
        page = await court.page(greets=False)
        results = (await page.greet())["results"]
        assert len(results) == 300
        assert all(result["actualCut"] and len(result["actual"]) > 50 for result in results)


async def test_a_store_that_keeps_nothing_is_told_and_what_is_there_can_be_run_all_the_same(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        page = await court.page()
        await court.take_in(A)
        monkeypatch.setattr(Database, "execute", lambda database, jobs: [Refused("the disk is full") for _ in jobs])
        with pytest.raises(NotKept, match=r"^abc1_b was not taken: the disk is full\. Fix that, and send it again\.$"):
            await court.desk.receive(post(B))
        assert await page.notice() == "abc1_b was not taken: the disk is full. Fix that, and send it again."
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]
        assert await page.notice() == f"The results of {A} will be forgotten when the server stops: the disk is full"
        monkeypatch.undo()
        await court.take_in(B)
        assert (await page.heard("state/problems"))["problems"][-1]["id"] == B


async def test_a_problem_that_nobody_looks_at_leaves_and_comes_back(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        assert court["problems"].child(A) is not None
        await trio.sleep(6)
        assert court["problems"].child(A) is None, "nobody has ever looked at it"
        await court.take_in(A, **samples("1", "4"))
        assert len(texts(court.folders.files)) == 8
        page = await court.page()
        await trio.sleep(100)
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3, 4]
