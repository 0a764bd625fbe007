"""`troupe judge run`, with real solutions in real processes."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import supervisor
from codec.judge import RunSettings
from codec.settings import JudgeSettings
from program.arguments import JudgeRun, read
from program.commands import judge as command_judge
from program.commands.judge import asked_for, ranges
from program.streams import NOBODY_READS
from program.terminal import cells
from program.trouble import Trouble
from systems.judge import JUDGING

DEADLINE = 60.0
ADDS = "print(sum(map(int, input().split())))\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _nobody_has_configured_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def problem(folder: Path, main: str | None, cases: list[tuple[str, str]], tests: str = "tests") -> Path:
    (folder / tests).mkdir(parents=True)
    if main is not None:
        (folder / "main.py").write_text(main)
    for number, (given, wanted) in enumerate(cases, 1):
        (folder / tests / f"{number}.in").write_text(given)
        (folder / tests / f"{number}.out").write_text(wanted)
    return folder


def judge(folder: Path, *options: str) -> int:
    return supervisor.main(["judge", "run", str(folder), "--interpreter", sys.executable, *options])


def sums(folder: Path, wanted: tuple[int, ...] = (3, 4)) -> Path:
    """With the right answers 3 and 4."""
    return problem(folder, ADDS, [(f"{number} 2\n", f"{answer}\n") for number, answer in enumerate(wanted, 1)])


# -- outcomes


@pytest.mark.slow
def test_a_solution_that_is_right_is_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(sums(tmp_path / "sums")) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["case", "verdict"], ["1", "AC"], ["2", "AC"]]
    assert lines[4].startswith("2 of 2 passed · ")
    assert said.err == ""


@pytest.mark.slow
def test_every_way_to_fail_has_its_verdict_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = """
import os, sys, time
way = input()
if way == "wrong": print("日本", 5)
if way == "crash": print("last words", file=sys.stderr); 1 / 0
if way == "kill": os.kill(os.getpid(), 9)
if way == "slow":
    while True: pass
if way == "large": held = b"x" * 300_000_000; time.sleep(30)
if way == "flood":
    while True: sys.stdout.write("x" * 1_000_000)
"""
    ways = ("wrong", "crash", "kill", "slow", "large", "flood")
    folder = problem(tmp_path / "ways", main, [(f"{way}\n", "日本 4\n") for way in ways])
    assert judge(folder, "--timeout", "2000", "--set", "judge.memory_limit_mb=100") == 1
    table = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    rows = {line[:6].strip(): line for line in table if line[:6].strip().isdecimal()}
    assert {number: row.split()[1] for number, row in rows.items()} == {
        "1": "WA",
        "2": "RE",
        "3": "RE",
        "4": "TLE",
        "5": "MLE",
        "6": "OLE",
    }
    assert rows["1"].endswith("line 1: expected '日本 4' got '日本 5'")
    assert rows["2"].endswith("ended with exit code 1")
    assert "SIGKILL" in rows["3"]
    assert rows["5"].rstrip().endswith("limit: 100 MB")


@pytest.mark.slow
def test_the_end_of_the_console_stands_below_a_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(problem(tmp_path / "crash", "1 / 0\n", [("", "")])) == 1
    assert "        │ ZeroDivisionError: division by zero\n" in capsys.readouterr().out


@pytest.mark.slow
def test_what_python_cannot_read_is_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(problem(tmp_path / "none", "print(\n", [("", "")])) == 1
    out = capsys.readouterr().out
    assert "1  CE" in out
    assert "Python cannot read the program" in out
    assert "SyntaxError" in out


@pytest.mark.slow
def test_a_case_that_cannot_be_judged_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cwd = tmp_path / "gone"
    assert judge(sums(tmp_path / "sums"), "--set", f"judge.workspace={cwd}") == 2
    out = capsys.readouterr().out
    assert "1  IE" in out
    assert "does not exist" in " ".join(out.split())


@pytest.mark.slow
def test_a_hundred_cases_are_reported_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = problem(tmp_path / "many", "print(input())\n", [(f"{number}\n", f"{number}\n") for number in range(100)])
    assert judge(folder, "--jobs", "4", "--timeout", "10000") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:101]] == [[str(number), "AC"] for number in range(1, 101)]
    assert lines[102].startswith("100 of 100 passed")


# -- what was asked for


@pytest.mark.slow
def test_only_the_cases_that_were_named_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(sums(tmp_path / "sums", (3, 99, 5)), "--case", "3", "1") == 0
    assert "2 of 2 passed" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("compare", "code"), [("exact", 1), ("tokens", 0)])
def test_outputs_are_compared_as_was_said(tmp_path: Path, compare: str, code: int) -> None:
    assert judge(problem(tmp_path / "words", "print('a', 'b')\n", [("", "a\nb\n")]), "--compare", compare) == code


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "inside"), [("workspace", False), ("task", True)])
def test_a_solution_runs_where_the_settings_say(
    tmp_path: Path, mode: str, inside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = problem(tmp_path / "where", "import os\nprint(os.getcwd())\n", [("", "")])
    workspace = ["--set", f"judge.workspace={tmp_path}", "--set", f"judge.run_cwd_mode={mode}"]
    assert judge(folder, "--json", *workspace) == 1
    result = json.loads(capsys.readouterr().out.splitlines()[0])["result"]
    assert result["actual"] == f"{folder if inside else tmp_path}\n"


@pytest.mark.slow
def test_a_solution_reads_and_writes_files_in_a_folder_of_each_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main = "open('sum.out', 'x').write(str(sum(map(int, open('sum.in').read().split()))))\nprint('by the way')\n"
    folder = problem(tmp_path / "files", main, [("1 2\n", "3"), ("2 2\n", "4"), ("3 2\n", "6")])
    monkeypatch.chdir(tmp_path)
    assert judge(folder, "--json", "--input-file", "sum.in", "--output-file", "sum.out") == 1
    *results, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(each["result"]["verdict"], each["result"]["actual"]) for each in results] == [
        ("AC", "3"),
        ("AC", "4"),
        ("WA", "5"),
    ]
    assert not list(tmp_path.rglob("sum.*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("main", "options"),
    [
        ("print(int(open('n.txt').read()) + 1)\n", ["--input-file", "n.txt"]),
        ("open('n.txt', 'w').write(str(int(input()) + 1))\n", ["--output-file", "n.txt"]),
    ],
)
def test_a_file_may_be_on_one_side_only(tmp_path: Path, main: str, options: list[str]) -> None:
    folder = problem(tmp_path / "next", main, [("1\n", "2\n"), ("2\n", "3\n")])
    assert judge(folder, "--compare", "tokens", *options) == 0


@pytest.mark.slow
def test_an_answer_that_was_not_written_to_its_file_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(sums(tmp_path / "sums"), "--output-file", "sum.out") == 1
    assert "it has not written sum.out, the file for the answer" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_json_is_what_a_page_would_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(sums(tmp_path / "sums", (3, 99)), "--json") == 1
    *results, complete = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(each["type"], each["result"]["index"], each["result"]["status"]) for each in results] == [
        ("run/result", 1, "pass"),
        ("run/result", 2, "fail"),
    ]
    assert results[1]["result"]["diffSummary"] == "line 1: expected '99' got '4'"
    assert (complete["type"], complete["summary"]["total"], complete["summary"]["passed"]) == ("run/complete", 2, 1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", RunSettings()),
        ("--interpreter pypy --jobs 3 --timeout 50", RunSettings(interpreter="pypy", jobs=3, timeout_ms=50)),
        ("--interpreter ./python", RunSettings(python_command="./python")),
    ],
)
def test_the_command_line_wins_over_the_settings(options: str, expected: RunSettings) -> None:
    command = read(["judge", "run", *options.split()])
    assert isinstance(command, JudgeRun)
    assert asked_for(command, RunSettings()) == expected


def test_only_the_mode_of_a_comparison_is_changed_by_the_command_line() -> None:
    command = read(["judge", "run", "--compare", "float"])
    assert isinstance(command, JudgeRun)
    compare = asked_for(command, JudgeSettings(tolerance=0.5).run).compare
    assert (compare.mode, compare.tolerance) == ("float", 0.5)


@pytest.mark.parametrize(
    ("numbers", "said"), [((1,), "1"), ((1, 2, 3), "1 to 3"), ((1, 3, 4, 9), "1, 3 to 4, 9"), ((), "")]
)
def test_numbers_are_said_in_ranges(numbers: tuple[int, ...], said: str) -> None:
    assert ranges(numbers) == said


# -- what cannot be run


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(tmp_path / "none") == 2
    assert capsys.readouterr().err == (
        f"troupe: There is no folder {tmp_path / 'none'}. Name the one where main.py is: troupe judge run FOLDER\n"
    )


def test_a_folder_that_cannot_be_looked_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / ("x" * 300)
    assert judge(folder) == 2
    assert capsys.readouterr().err.startswith(f"troupe: The folder {folder} cannot be read: File name too long.")


def test_a_folder_without_a_solution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(problem(tmp_path / "empty", None, [("", "")])) == 2
    assert f"There is no main.py in {tmp_path / 'empty'}. Write one" in capsys.readouterr().err


def test_a_folder_without_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = problem(tmp_path / "untested", ADDS, [])
    (folder / "tests" / "1.in").touch()  # half a case is none
    assert judge(folder) == 2
    assert f"There are no tests in {folder / 'tests'}. Put some there, as 1.in and 1.out" in capsys.readouterr().err


def test_tests_are_looked_for_where_the_settings_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(sums(tmp_path / "sums"), "--set", "judge.tests_dir=samples") == 2
    assert str(tmp_path / "sums" / "samples") in capsys.readouterr().err


def test_a_case_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(sums(tmp_path / "sums"), "--case", "7") == 2
    assert f"There is no case 7 in {tmp_path / 'sums' / 'tests'}; there are 1 to 2" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--interpreter", "/no/python"],
            "There is no Python to run this with: '/no/python' does not exist. Name another: cpython, pypy, or a path",
        ),
        (
            ["--interpreter", "/bin/false"],
            "There is no Python to run this with: '/bin/false' (/bin/false) is not a Python interpreter that works: "
            "it ended with exit code 1. Name another",
        ),
        (
            ["--interpreter", "pypy", "--set", "judge.pypy_command=no-pypy"],
            "There is no PyPy to run this with: 'no-pypy' was not found on the PATH. Install it (Debian: apt install",
        ),
        (
            ["--interpreter", "cpython", "--set", "judge.python_command=no-python"],
            "There is no Python to run this with: 'no-python' was not found on the PATH. Install Python,",
        ),
    ],
)
def test_an_interpreter_that_is_not_there(
    tmp_path: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert supervisor.main(["judge", "run", str(sums(tmp_path / "sums")), *options]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"troupe: {sentence}")
    assert said.err.count("\n") == 1
    assert said.out == ""


# -- tests that are left out


def odd_one(folder: Path, kind: str) -> str:
    """Test 3 becomes one that is left out. Returns what the page says of it."""
    given, wanted = folder / "tests" / "3.in", folder / "tests" / "3.out"
    given.write_text("1 2\n")
    match kind:
        case "a pipe":
            os.mkfifo(wanted)
        case "a folder":
            wanted.mkdir()
        case "a link":
            wanted.symlink_to(folder / "tests" / "1.out")
        case "missing":
            pass
    return f"Test 3 is left out: 3.out is {kind}. A test needs two plain files, such as 3.in and 3.out."


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a link", "missing"])
@pytest.mark.slow
def test_a_test_that_is_left_out_is_told_as_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    folder = sums(tmp_path / "sums")
    sentence = odd_one(folder, kind)
    assert judge(folder) == 0
    said = capsys.readouterr()
    below = " ".join(said.out.splitlines()[5:])
    assert below.partition(" ~ the machine")[0] == sentence  # which says that it was busy, if it was
    assert said.err == ""
    assert judge(folder, "--json") == 0
    first, *others = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"type": "notice", "level": "warn", "message": sentence}
    assert [each["type"] for each in others] == ["run/result", "run/result", "run/complete"]


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a link", "missing"])
@pytest.mark.parametrize("nothing", ["named", "there"])
def test_nothing_can_be_run_and_the_test_that_is_left_out_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, nothing: str
) -> None:
    folder = sums(tmp_path / "sums", () if nothing == "there" else (3, 4))
    sentence = odd_one(folder, kind)
    assert judge(folder, "--case", "3") == 2
    said = capsys.readouterr()
    assert said.err.endswith(f". {sentence.removesuffix('.')}\n")
    assert said.err.count("\n") == 1


def test_a_solution_that_is_no_file_is_told_as_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sums(tmp_path / "sums")
    (folder / "main.py").unlink()
    (folder / "main.py").mkdir()
    assert judge(folder) == 2
    assert capsys.readouterr().err.endswith(". main.py is a folder, and not a file\n")


# -- the terminal


def shown(folder: Path, out: io.StringIO, err: io.StringIO, *options: str) -> int:
    command = read(["judge", "run", str(folder), "--interpreter", sys.executable, *options])
    assert isinstance(command, JudgeRun)
    return command_judge.judge(command, JudgeSettings(), JUDGING, out, err)


@pytest.mark.slow
def test_on_a_terminal_there_is_a_bar_that_vanishes_and_a_table_in_colours(tmp_path: Path) -> None:
    out, err = Terminal(), Terminal()
    assert shown(sums(tmp_path / "sums", (3, 99)), out, err) == 1
    assert "░  0 of 2 judged, 0 passed" in err.getvalue()
    assert "█  2 of 2 judged, 1 passed" in err.getvalue()
    assert err.getvalue().endswith("\r\x1b[K")
    assert max(map(cells, err.getvalue().split("\r"))) < 80
    assert "\x1b[32mAC" in out.getvalue()


@pytest.mark.slow
def test_nobody_who_objects_to_colours_gets_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    assert shown(sums(tmp_path / "sums"), out, Terminal()) == 0
    assert "\x1b" not in out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_in_a_pipe_there_is_neither_bar_nor_colour(tmp_path: Path, options: list[str]) -> None:
    out, err = io.StringIO(), Terminal()
    assert shown(sums(tmp_path / "sums"), out, err, *options) == 0
    assert err.getvalue() == ""
    assert "\x1b" not in out.getvalue()


def test_a_folder_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    folder = sums(tmp_path / "sums")
    for file in (folder / "tests").iterdir():
        file.unlink()
    (folder / "tests").rmdir()
    (folder / "tests").touch()
    with pytest.raises(Trouble, match=r"cannot be read: .* is a file or a link, and not a folder"):
        shown(folder, io.StringIO(), io.StringIO())


@pytest.mark.usefixtures("removed_under_ones_feet")
def test_a_workspace_that_was_removed_under_ones_feet_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="The folder you are in has been removed"):
        shown(sums(tmp_path / "sums"), io.StringIO(), io.StringIO())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_said_and_is_not_a_case_that_fails(tmp_path: Path, options: list[str]) -> None:
    command = [sys.executable, str(Path(supervisor.__file__)), "judge", "run", str(sums(tmp_path / "sums")), *options]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
    assert done.stderr == "troupe: The output cannot be written: No space left on device\n"
    assert done.returncode == 2


# -- Ctrl-C


def processes(folder: Path) -> Iterator[int]:
    """Those that have a path below this folder among their arguments."""
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in cmdline.read_bytes():
                yield int(cmdline.parent.name)
        except OSError:  # it ended meanwhile
            continue


def until(holds: Any) -> None:
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "options"), [(signal.SIGINT, []), (signal.SIGINT, ["--json"]), (signal.SIGTERM, [])], ids=str
)
def test_a_signal_ends_everything_without_a_traceback(tmp_path: Path, by: signal.Signals, options: list[str]) -> None:
    main = f"""
import subprocess, sys, time
if input() == "wait":
    subprocess.Popen(["sleep", "1000", {str(tmp_path)!r}], start_new_session=True)
    open({str(tmp_path / "waiting")!r}, "w").close()
    time.sleep(1000)
"""
    folder = problem(tmp_path / "wait", main, [("go\n", ""), ("wait\n", ""), ("go\n", "")])
    command = [sys.executable, str(Path(supervisor.__file__)), "judge", "run", str(folder), "--jobs", "1"]
    command += ["--interpreter", sys.executable, "--timeout", "600000", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            until(lambda: (tmp_path / "waiting").exists())
            os.killpg(process.pid, by)
            out, err = process.communicate(timeout=DEADLINE)
        finally:
            process.kill()
    assert (process.returncode, err) == (128 + by, "")
    if options:
        assert json.loads(out.splitlines()[-1])["cancelled"] is True
    else:
        assert "1 of 3 passed · 2 not run" in out
    assert list(processes(tmp_path)) == []


@pytest.mark.slow
def test_a_reader_who_has_read_enough_ends_it_without_a_word(tmp_path: Path) -> None:
    folder = sums(tmp_path / "sums")
    command = [sys.executable, str(Path(supervisor.__file__)), "judge", "run", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(DEADLINE)) == ("", NOBODY_READS)
