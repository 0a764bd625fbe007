"""Large outputs are compared in a process of their own: to the same end, within bounds, and to nobody's harm."""

import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.judge import comparing
from actors.judge.checkers import Differs, Same, compare
from actors.judge.comparing import ELSEWHERE, MODULE, alike, answered, read, request
from actors.judge.difference import diff_summary
from actors.judge.run import _compared
from actors.kernel import KernelError
from actors.store import StateDirectory
from codec.judge import Compare, CompareMode
from codec.programs import Outcome
from tests.judge.kit import Machine, an_outcome, judging

A = "abc1/abc1_a"
LONG = b"1.000000 " * (ELSEWHERE // 9)
NEAR = LONG.replace(b"1.000000 ", b"1.0000001 ")
MODES: tuple[CompareMode, ...] = ("exact", "trim", "tokens", "float")


# -- the same verdict


pieces = st.sampled_from([b"a", b"A", b"1.5", b"1.5000001", b" ", b"\n", b"\r\n", b"\xff", "é".encode()])
texts = st.lists(pieces, max_size=30)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(texts.map(b"".join), texts.map(b"".join), st.sampled_from(MODES), st.booleans())
def test_what_the_process_answers_is_what_the_server_would_say(
    expected: bytes, actual: bytes, mode: CompareMode, case: bool
) -> None:
    how = Compare(mode=mode, case_sensitive=case)
    here = compare(expected, actual, how)
    line, *rest = request(expected, actual, how)
    there = read(answered(line, b"".join(rest)))
    assert there == here
    if isinstance(here, Differs) and isinstance(there, Differs):
        assert diff_summary(there) == diff_summary(here)


@pytest.mark.parametrize("size", [1, 6, 7, 8, 14, 15])
def test_one_byte_makes_a_difference_wherever_it_is(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(comparing, "STEP", 7)
    text = bytes(range(size))
    assert alike(text, bytes(text))
    for at in range(size):
        assert not alike(text, text[:at] + b"\xff" + text[at + 1 :])


@given(st.binary(max_size=40), st.binary(max_size=40), st.booleans())
def test_alike_is_equal(one: bytes, other: bytes, same: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "STEP", 7)
        assert alike(one, one + b"") is True
        assert alike(one, other) is (one == other)
        assert alike(one + other, one + other[::-1]) is (other == other[::-1])


# -- where it is made


async def test_small_outputs_and_equal_ones_are_compared_in_the_server() -> None:
    machine = Machine()
    for size in (10, 1 << 20, 3 * ELSEWHERE):
        assert await _compared(machine, b"x" * size, b"x" * size, Compare()) == Same()
    assert isinstance(await _compared(machine, b"x" * 1000, b"y" * 1000, Compare()), Differs)
    assert machine.modules == []
    assert isinstance(await _compared(machine, LONG, LONG[:-2] + b"2 ", Compare()), Differs)
    assert machine.modules == [MODULE]


ENDS: dict[str, tuple[Outcome | Exception, str]] = {
    "too slow": (an_outcome(stopped_for="cpu"), "took more than 60 seconds and was given up."),
    "waiting": (an_outcome(stopped_for="wall"), "took more than 60 seconds and was given up."),
    "too large": (an_outcome(stopped_for="memory", signal=9), "took too much memory and was given up."),
    "killed": (an_outcome(signal=signal.SIGKILL), "was ended by something else. Run it again."),
    "failed": (an_outcome(exit_code=1), "was ended by something else. Run it again."),
    "no answer": (an_outcome(b"{"), "has failed. Run it again."),
    "not started": (KernelError("There is no room."), "failed: There is no room."),
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
async def test_a_comparison_that_comes_to_nothing_is_no_verdict_but_a_sentence(
    directory: StateDirectory, end: str
) -> None:
    outcome, sentence = ENDS[end]
    machine = Machine(lambda program: an_outcome(NEAR), compares=lambda given: outcome)
    async with judging(directory, machine=machine) as court:
        await court.take_in(A, tests=[{"input": "1\n", "output": LONG.decode()}])
        page = await court.page()
        await page.say("ui/runAll")
        result = (await page.heard("run/result"))["result"]
        assert (result["status"], result["verdict"]) == ("re", "IE")
        assert result["reason"].startswith("The output could not be compared with the answer (18 MB in all): ")
        assert result["reason"].endswith(f": the comparison {sentence}")
