"""From the facts of a run to its verdict."""

from typing import Any, get_args

import pytest

from actors.judge.checkers import Differs, Same
from actors.judge.limits import CaseLimits
from actors.judge.verdicts import INTERFERENCE, STATUS, Facts, Ruling, is_no_program, rule
from codec.judge import Verdict
from codec.programs import Excess

WRONG = Differs(1, None, None)
LIMITS = CaseLimits(2_400, 7_200, 65_536)


def facts(**known: Any) -> Facts:
    return Facts(**{"limits": LIMITS, **known})


RULINGS = [
    ({"exit_code": 0, "answer": Same()}, Ruling("pass", "AC", None)),
    ({"exit_code": 0, "answer": WRONG}, Ruling("fail", "WA", None)),
    ({"exit_code": 1}, Ruling("re", "RE", "ended with exit code 1")),
    ({"exit_code": 3, "answer": Same()}, Ruling("re", "RE", "ended with exit code 3")),
    ({"signal": 11}, Ruling("re", "RE", "ended by signal SIGSEGV (Segmentation fault)")),
    ({"signal": 250}, Ruling("re", "RE", "ended by signal 250")),
    ({"exit_code": 1, "no_program": True}, Ruling("re", "CE", "Python cannot read the program")),
    (
        {"signal": 9, "stopped_for": "cpu", "cpu_ms": 2_410},
        Ruling("timeout", "TLE", "used 2,410 ms of CPU time; limit: 2,400"),
    ),
    (
        {"signal": 9, "stopped_for": "wall", "cpu_ms": 12},
        Ruling("timeout", "TLE", "stopped after 7,200 ms of waiting; it had used 12 ms of CPU time of 2,400"),
    ),
    ({"signal": 24, "cpu_ms": 3_000}, Ruling("timeout", "TLE", "used 3,000 ms of CPU time; limit: 2,400")),
    (
        {"exit_code": 0, "cpu_ms": 2_401, "answer": Same()},
        Ruling("timeout", "TLE", "used 2,401 ms of CPU time; limit: 2,400"),
    ),
    ({"exit_code": 0, "cpu_ms": 2_400, "answer": Same()}, Ruling("pass", "AC", None)),
    (
        {"signal": 9, "stopped_for": "memory", "memory_kb": 70_000},
        Ruling("re", "MLE", "used 68 MB of memory; limit: 64 MB"),
    ),
    (
        {"exit_code": 0, "memory_kb": 102_400, "answer": Same()},
        Ruling("re", "MLE", "used 100 MB of memory; limit: 64 MB"),
    ),
    (
        {"exit_code": 0, "memory_kb": 102_400, "answer": Same(), "limits": CaseLimits(1, 2, None)},
        Ruling("pass", "AC", None),
    ),
    ({"signal": 9, "stopped_for": "output"}, Ruling("re", "OLE", "stopped because it wrote too much")),
    ({"signal": 9, "stopped_for": "files"}, Ruling("re", "OLE", "stopped because it wrote too much to files")),
    ({"signal": 25}, Ruling("re", "OLE", "stopped because it wrote too much")),
    (
        {"signal": 9, "stopped_for": "processes"},
        Ruling("re", "RE", "stopped because it started too many processes"),
    ),
    ({"signal": 9, "stopped_for": "interference"}, Ruling("re", "RE", INTERFERENCE)),
    (
        {"signal": 9, "stopped_for": "output", "cpu_ms": 9_000},
        Ruling("re", "OLE", "stopped because it wrote too much"),
    ),
    (
        {"signal": 24, "stopped_for": "memory", "memory_kb": 70_000},
        Ruling("re", "MLE", "used 68 MB of memory; limit: 64 MB"),
    ),
]


@pytest.mark.parametrize(("known", "ruling"), RULINGS, ids=[f"{known}" for known, _ in RULINGS])
def test_a_run_is_ruled_by_the_first_row_that_holds(known: dict[str, Any], ruling: Ruling) -> None:
    assert rule(facts(**known)) == ruling


def test_every_verdict_has_one_of_the_specs_statuses() -> None:
    assert set(STATUS) == set(get_args(Verdict))
    assert set(STATUS.values()) == {"pass", "fail", "timeout", "re"}


def test_nothing_that_was_stopped_passes() -> None:
    for reason in get_args(Excess):
        assert rule(facts(exit_code=0, stopped_for=reason, answer=Same())).status not in ("pass", "fail")


REFUSED = b"  File \"/w/main.py\", line 3\n    print(1 +\n         ^\nSyntaxError: '(' was never closed\n"
NO_PROGRAM = [
    (REFUSED, True),
    (b"note\n" + REFUSED, True),
    (b'  File "main.py", line 2\n    x\n    ^\nIndentationError: expected an indented block after \'if\'\n', True),
    (b'  File "main.py", line 2\n    x\nTabError: inconsistent use of tabs\n', True),
    (b"Traceback (most recent call last):\n  File \"main.py\", line 1, in <module>\n" + REFUSED, False),
    (b"SyntaxError: no\n", False),
    (b"SyntaxError: Non-UTF-8 code starting with '\\xff' in file /w/main.py on line 1, but no\n", True),
    (REFUSED + b"and on\n", False),
    (b"", False),
]  # fmt: skip


@pytest.mark.parametrize(("stderr", "refused"), NO_PROGRAM)
def test_a_script_that_python_refuses_is_known_by_its_words(stderr: bytes, refused: bool) -> None:
    assert is_no_program(stderr) is refused
