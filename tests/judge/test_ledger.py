"""The last results, and what is told of a folder: pure."""

from dataclasses import replace
from typing import Any

import pytest

from actors.judge.keeping import MOST_TEXT, _fitting, _recorded
from actors.judge.ledger import Basis, Recorded, same
from codec.judge import RunResult
from tests.judge.kit import CaseFile, Found

FOUND = Found({1: (CaseFile(b"in"), CaseFile(b"out")), 2: (CaseFile(b"2"), CaseFile(b"2"))}, {}, 2, b"digest", True)


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({}, True),
        ({"main_stamp": "saved"}, True),
        ({"cases": {1: (CaseFile(b"in", "saved"), CaseFile(b"out")), 2: FOUND.cases[2]}}, True),
        ({"cases": {1: (CaseFile(b"other"), CaseFile(b"out")), 2: FOUND.cases[2]}}, False),
        ({"cases": {1: (CaseFile(b"in"), CaseFile(b"other")), 2: FOUND.cases[2]}}, False),
        ({"cases": {1: FOUND.cases[1]}}, False),
        ({"cases": {**FOUND.cases, 3: FOUND.cases[1]}}, False),
        ({"main": b"other"}, False),
        ({"main": None}, False),
        ({"exists": False}, False),
        ({"odd": {"3.in": "a link"}}, False),
    ],
)
def test_pages_are_told_what_has_changed_and_of_nothing_else(change: dict[str, Any], is_same: bool) -> None:
    assert same(FOUND, replace(FOUND, **change)) == is_same
    assert not same(None, replace(FOUND, **change)), "they know nothing yet"


@pytest.mark.parametrize("size", [0, MOST_TEXT, MOST_TEXT + 1])
@pytest.mark.parametrize("was_cut", [False, True])
def test_a_result_is_kept_with_the_beginning_of_its_output_and_says_whether_that_is_all(
    size: int, was_cut: bool
) -> None:
    result = RunResult(
        index=1,
        status="pass",
        verdict="AC",
        duration_ms=0,
        actual="é" * size,
        actual_size=2 * size,
        actual_cut=was_cut,
        console="e" * size + "END",
    )
    (kept,) = _recorded(_fitting([Recorded(result, Basis())]))
    assert kept.result.actual == "é" * min(size, MOST_TEXT)
    assert kept.result.actual_cut == (was_cut or size > MOST_TEXT)
    assert kept.result.console == result.console[-MOST_TEXT:]
