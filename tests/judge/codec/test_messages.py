"""What backend and page say to each other."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.judge import (
    BadChange,
    BadMessage,
    Batch,
    Cancel,
    Case,
    Compare,
    File,
    Forget,
    Listed,
    Look,
    Notice,
    OpenProblem,
    RequestCase,
    RequestInit,
    RunAll,
    RunComplete,
    Running,
    RunOne,
    RunProgress,
    RunReport,
    RunResult,
    RunSettings,
    ShownProblem,
    Standing,
    StateCase,
    StateInit,
    StateProblems,
    StateProblemsChanged,
    StateUpdate,
    Summary,
    SwitchInterpreter,
    UpdateSettings,
    changed,
    excerpt,
    fingerprint,
    read_ui,
    write,
)
from codec.judge.messages import MOST_INDICES

CASE = Case(
    index=1,
    input_path="/w/abc999/abc999_a/tests/1.in",
    output_path="/w/abc999/abc999_a/tests/1.out",
    input_content="1\n",
    expected_content="2\n",
    input_size=2,
    expected_size=2,
)
PROBLEM = ShownProblem(
    name="A - ABC",
    group="AtCoder Beginner Contest 999",
    url="https://atcoder.jp/contests/abc999/tasks/abc999_a",
    interactive=False,
    time_limit=2000,
    contest_id="abc999",
    task_id="abc999_a",
    tests_dir="tests",
    cases=(CASE,),
    id="abc999/abc999_a",
)
SUMMARY = Summary(total=3, passed=2, failed=1, timeouts=0, res=0, duration_ms=120)
RESULT = RunResult(
    index=2,
    status="fail",
    duration_ms=37,
    actual="3\n",
    console="",
    diff_summary="line 1: expected '4' got '3'",
    verdict="WA",
    actual_size=2,
)
SPEC_PROBLEM = {
    "name": "A - ABC",
    "group": "AtCoder Beginner Contest 999",
    "url": "https://atcoder.jp/contests/abc999/tasks/abc999_a",
    "interactive": False,
    "timeLimit": 2000,
    "contestId": "abc999",
    "taskId": "abc999_a",
    "testsDir": "tests",
}
SPEC_CASE = {
    "index": 1,
    "inputPath": "/w/abc999/abc999_a/tests/1.in",
    "outputPath": "/w/abc999/abc999_a/tests/1.out",
}
SPEC_SUMMARY = {"total": 3, "passed": 2, "failed": 1, "timeouts": 0, "res": 0, "durationMs": 120}
SPEC_RESULT = {
    "index": 2,
    "status": "fail",
    "durationMs": 37,
    "actual": "3\n",
    "console": "",
    "diffSummary": "line 1: expected '4' got '3'",
}


def holds(message: Any, expected: Any) -> bool:
    """Whether a message has at least what is expected; only the spec's own objects may have more."""
    if isinstance(expected, dict):
        return all(name in message and holds(message[name], value) for name, value in expected.items())
    if isinstance(expected, list):
        return len(message) == len(expected) and all(map(holds, message, expected))
    return bool(message == expected and type(message) is type(expected))


WRITTEN: list[tuple[Any, dict[str, Any]]] = [
    (
        StateInit(problem=PROBLEM, settings=RunSettings(python_command="python")),
        {
            "type": "state/init",
            "problem": {**SPEC_PROBLEM, "cases": [SPEC_CASE]},
            "settings": {
                "interpreter": "cpython",
                "pythonCommand": "python",
                "pypyCommand": "pypy3",
                "runCwdMode": "workspace",
                "timeoutMs": None,
                "compare": {"mode": "exact", "caseSensitive": True},
            },
        },
    ),
    (
        StateInit(
            settings=RunSettings(), results=(RESULT,), summary=SUMMARY, running=Running(scope="all"), interrupted=True
        ),
        {
            "type": "state/init",
            "results": [SPEC_RESULT],
            "summary": SPEC_SUMMARY,
            "running": {"scope": "all"},
            "interrupted": True,
        },
    ),
    (StateUpdate(problem=PROBLEM), {"type": "state/update", "problem": SPEC_PROBLEM}),
    (
        RunProgress(scope="all", running=True, current_index=2),
        {"type": "run/progress", "scope": "all", "running": True, "currentIndex": 2},
    ),
    (RunProgress(scope="one", running=False), {"type": "run/progress", "scope": "one", "running": False}),
    (RunReport(scope="one", result=RESULT), {"type": "run/result", "scope": "one", "result": SPEC_RESULT}),
    (RunComplete(scope="all", summary=SUMMARY), {"type": "run/complete", "scope": "all", "summary": SPEC_SUMMARY}),
    (Notice(level="warn", message="a"), {"type": "notice", "level": "warn", "message": "a"}),
    (
        StateProblemsChanged(gone=("c/t",), current="c/u"),
        {"type": "state/problemsChanged", "gone": ["c/t"], "current": "c/u"},
    ),
    (
        StateProblems(
            problems=(
                Listed(
                    id="c/t",
                    name="n",
                    group="g",
                    contest_id="c",
                    task_id="t",
                    url="u",
                    cases=3,
                    standing=Standing(passed=2, failed=1),
                    batch=Batch("b", 6),
                ),
            ),
            current="c/t",
        ),
        {
            "type": "state/problems",
            "current": "c/t",
            "problems": [
                {
                    "id": "c/t",
                    "contestId": "c",
                    "cases": 3,
                    "standing": {"passed": 2, "failed": 1},
                    "batch": {"id": "b", "size": 6},
                }
            ],
        },
    ),
    (
        StateCase(problem_id="c/t", case=CASE),
        {"type": "state/case", "problemId": "c/t", "case": {**SPEC_CASE, "inputContent": "1\n"}},
    ),
]


@pytest.mark.parametrize(("message", "expected"), WRITTEN, ids=[message["type"] for _, message in WRITTEN])
def test_what_a_page_is_told_is_as_the_spec_has_it(message: Any, expected: dict[str, Any]) -> None:
    written = json.loads(write(message))
    assert holds(written, expected), written


def test_what_says_nothing_is_left_out() -> None:
    assert set(json.loads(write(StateInit(settings=RunSettings())))) == {"type", "settings"}
    assert set(json.loads(write(RunProgress(scope="all", running=False)))) == {"type", "scope", "running"}
    told = json.loads(write(RunReport(scope="one", result=RESULT)))["result"]
    assert set(told) == {*SPEC_RESULT, "verdict", "actualSize"}


def test_a_kind_of_input_is_told_with_its_name() -> None:
    problem = msgspec.structs.replace(PROBLEM, input=File("in.txt"))
    assert json.loads(write(StateUpdate(problem=problem)))["problem"]["input"] == {"type": "file", "fileName": "in.txt"}


def test_a_path_that_is_no_text_can_be_told() -> None:
    case = msgspec.structs.replace(CASE, input_path="/w/\udcff.in")
    assert json.loads(write(StateCase(case=case)))["case"]["inputPath"] == "/w/�.in"


READ = [
    ({"type": "ui/runOne", "index": 1}, RunOne(index=1)),
    ({"type": "ui/runOne", "index": 1, "problemId": "c/t"}, RunOne(index=1, problem_id="c/t")),
    ({"type": "ui/runAll"}, RunAll()),
    ({"type": "ui/runAll", "indices": None}, RunAll()),
    ({"type": "ui/runAll", "indices": []}, RunAll(indices=())),
    ({"type": "ui/runAll", "indices": [2, 3], "later": 1}, RunAll(indices=(2, 3))),
    ({"type": "ui/switchInterpreter", "interpreter": "pypy"}, SwitchInterpreter(interpreter="pypy")),
    ({"type": "ui/requestInit"}, RequestInit()),
    ({"type": "ui/requestInit", "problemId": "abc1/abc1_a"}, RequestInit("abc1/abc1_a")),
    ({"type": "ui/requestInit", "follow": False}, RequestInit(follow=False)),
    ({"type": "ui/look"}, Look()),
    ({"type": "ui/forget", "id": "c/t"}, Forget("c/t")),
    ({"type": "ui/cancel"}, Cancel()),
    ({"type": "ui/updateSettings", "settings": {"jobs": 2}}, UpdateSettings(settings={"jobs": 2})),
    ({"type": "ui/openProblem", "id": "c/t"}, OpenProblem(id="c/t")),
    ({"type": "ui/requestCase", "index": 4}, RequestCase(index=4)),
]


@pytest.mark.parametrize(("said", "meant"), READ, ids=[str(said) for said, _ in READ])
def test_what_a_page_wants_is_read(said: dict[str, Any], meant: Any) -> None:
    assert read_ui(json.dumps(said)) == meant
    assert read_ui(json.dumps(said).encode()) == meant


TYPES = (
    "expected one of ui/runOne, ui/runAll, ui/switchInterpreter, ui/requestInit, ui/cancel, ui/updateSettings, "
    "ui/openProblem, ui/requestCase, ui/look and ui/forget"
)
BAD = [
    (b"{", "the message is not JSON; expected an object with a type"),
    (b'"\xff"', "the message is not JSON; expected an object with a type"),
    ("\ud800", "the message is not JSON; expected an object with a type"),
    (b"[" * 100_000, "the message is too long (100,000); expected at most 65,536 bytes"),
    (b"[" * 60_000, "the message is not JSON; expected an object with a type"),
    ("[]", "the message is an array; expected an object with a type"),
    ("{}", f"type is missing; {TYPES}"),
    ('{"type": "ui/dance"}', f'type is "ui/dance"; {TYPES}'),
    ('{"type": ["ui/runAll"]}', f'type is ["ui/runAll"]; {TYPES}'),
    ('{"type": "ui/runOne"}', "ui/runOne: index is missing; expected the number of a case, from 1"),
    ('{"type": "ui/runOne", "index": 0}', "ui/runOne: index must be the number of a case, from 1, not 0"),
    ('{"type": "ui/runOne", "index": "1"}', 'ui/runOne: index must be the number of a case, from 1, not "1"'),
    (
        '{"type": "ui/runAll", "indices": [1, 0]}',
        "ui/runAll: indices must be an array of at most 10,000 numbers of cases, each from 1, not [1, 0]",
    ),
    (
        '{"type": "ui/switchInterpreter", "interpreter": "jython"}',
        'ui/switchInterpreter: interpreter must be "cpython" or "pypy", not "jython"',
    ),
    ('{"type": "ui/requestInit", "follow": 1}', "ui/requestInit: follow must be true or false, not 1"),
    ('{"type": "ui/openProblem", "id": ""}', 'ui/openProblem: id must be the id of a problem, not ""'),
    (
        '{"type": "ui/updateSettings"}',
        "ui/updateSettings: settings is missing; expected an object with the settings to change",
    ),
    (
        '{"type": "ui/updateSettings", "settings": []}',
        "ui/updateSettings: settings must be an object with the settings to change, not an array",
    ),
    (
        '{"type": "ui/updateSettings", "settings": {"jobs": 0}}',
        "ui/updateSettings: jobs must be how many cases run at once, from 1 to 256, "
        "or null for as many as there are cores, not 0",
    ),
]


@pytest.mark.parametrize(("said", "sentence"), BAD, ids=[sentence[:60] for _, sentence in BAD])
def test_what_cannot_be_done_is_said_in_a_sentence(said: str | bytes, sentence: str) -> None:
    with pytest.raises(BadMessage) as refused:
        read_ui(said)
    assert str(refused.value) == sentence


# --- settings --------------------------------------------------------------------------------------------------------


def test_a_change_names_only_what_it_changes() -> None:
    before = RunSettings(interpreter="pypy", compare=Compare(mode="trim", tolerance=0.5))
    after = changed(before, {"timeoutMs": 1500.0, "compare": {"caseSensitive": False}})
    assert after == RunSettings(
        interpreter="pypy", timeout_ms=1500, compare=Compare(mode="trim", tolerance=0.5, case_sensitive=False)
    )
    assert changed(after, {"timeoutMs": None}).timeout_ms is None


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadChange) as refused:
        changed(RunSettings(), {"timeoutMs": 0, "compare": {"mode": "fuzzy", "tolerance": 2}, "colour": 1})
    assert str(refused.value) == (
        "timeoutMs must be a whole number of milliseconds from 1 to 3600000, or null for the problem's own, not 0; "
        'compare.mode must be "exact", "trim", "tokens" or "float", not "fuzzy"; '
        "compare.tolerance must be a number from 0 to 1, such as 1e-6, not 2; "
        '"colour" is not a setting; there are interpreter, pythonCommand, pypyCommand, runCwdMode, timeoutMs, '
        "memoryLimitMb, jobs and compare"
    )


@pytest.mark.parametrize("command", ["", " ", "a\nb", "a\x00", "x" * 1001, None, 3])
def test_a_command_is_one_line_with_something_in_it(command: Any) -> None:
    with pytest.raises(BadChange, match="pythonCommand must be the name or path of a program"):
        changed(RunSettings(), {"pythonCommand": command})


def test_a_command_may_have_spaces_and_any_script() -> None:
    path = "C:\\Program Files\\Питон\\python.exe"
    assert changed(RunSettings(), {"pythonCommand": path}).python_command == path


def test_settings_come_back_as_they_were_kept() -> None:
    kept = RunSettings(jobs=3, compare=Compare(mode="float", tolerance=1e-9))
    assert msgspec.json.decode(msgspec.json.encode(kept), type=RunSettings) == kept


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["timeoutMs", "jobs", "compare", "interpreter", "memoryLimitMb", "nonsense"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just({"mode": "trim"}),
    )
)
def test_whatever_is_accepted_can_be_kept(changes: dict[str, Any]) -> None:
    try:
        after = changed(RunSettings(), changes)
    except BadChange:
        return
    assert msgspec.json.decode(msgspec.json.encode(after), type=RunSettings) == after


# --- texts -----------------------------------------------------------------------------------------------------------

EXCERPTS = [
    (b"", 4, None, ("", 0, False)),
    (b"abcd", 4, None, ("abcd", 4, False)),
    (b"abcde", 4, None, ("abcd", 5, True)),
    ("aböx".encode(), 3, None, ("ab", 5, True)),
    ("ab€".encode(), 4, None, ("ab", 5, True)),
    (b"ab\xff", 4, None, ("ab�", 3, False)),
    (b"ab\xc3", 4, None, ("ab�", 3, False)),
    (b"abc", 4, 100, ("abc", 100, True)),
]


@pytest.mark.parametrize(("data", "limit", "size", "expected"), EXCERPTS)
def test_an_excerpt_is_of_whole_characters(
    data: bytes, limit: int, size: int | None, expected: tuple[str, int, bool]
) -> None:
    assert excerpt(data, limit, size) == expected


def test_a_fingerprint_is_of_the_whole_however_it_is_taken() -> None:
    parts = fingerprint(b"a")
    parts.update(b"b")
    assert parts.digest() == fingerprint(b"ab").digest() != fingerprint(b"ba").digest()


def test_a_page_that_names_too_many_cases_is_told_how_many_it_may_name() -> None:
    def asks(number: int) -> bytes:
        return b'{"type": "ui/runAll", "indices": [%s]}' % b",".join([b"7"] * number)

    assert read_ui(asks(MOST_INDICES)) == RunAll((7,) * MOST_INDICES)
    with pytest.raises(BadMessage, match="an array of at most 10,000 numbers of cases"):
        read_ui(asks(MOST_INDICES + 1))
