"""Which versions of its files a result is of, by what was looked at and what was read."""

from functools import partial
from hashlib import sha256

import pytest

from actors.judge.given import Used
from actors.judge.ledger import Basis, Present
from actors.judge.versions import Versions
from codec.judge import RunSettings, Task
from tests.judge.kit import CaseFile, Found

ORDERED = Basis("solution", "test", "interpreter", "terms")


def found(main: bytes = b"main", **edits: bytes) -> Found:
    return of_cases(2, main, **edits)


def of_cases(cases: int, main: bytes, **edits: bytes) -> Found:
    """Each version has its content as its stamp. `in1=b"7"`: the first test's input is another."""

    def text(index: int, kind: str) -> CaseFile:
        content = edits.get(f"{kind}{index}", f"{kind}{index}".encode())
        return CaseFile(content, stamp(content))

    pairs = {index: (text(index, "in"), text(index, "out")) for index in range(1, cases + 1)}
    return Found(pairs, {}, cases, sha256(main).digest(), True, main_stamp=stamp(main))


def stamp(content: bytes) -> object:
    return ("a stamp", content)


def used(index: int, main: bytes = b"main", **edits: bytes) -> Used:
    seen = found(main, **edits)
    return Used(seen.main_stamp, *(each.stamp for each in seen.cases[index]))


def basis(state: Found, index: int) -> Basis:
    """Of a result of what is there now."""
    return Present.of(state, RunSettings(), Task(name="A")).basis(index)


NOW = found()
OF = partial(basis, NOW)


@pytest.fixture
def versions() -> Versions:
    versions = Versions()
    assert versions.read(NOW)
    assert not versions.read(NOW), "all of it is known"
    versions.run_begins()
    return versions


def test_a_result_is_of_what_its_program_has_read(versions: Versions) -> None:
    versions.ran(1, used(1))
    versions.ran(2, used(2))
    assert [versions.basis(index, OF(3)) for index in (1, 2)] == [OF(1), OF(2)]
    assert versions.ran_last == (1, 2)


def test_what_has_run_no_program_is_of_what_was_ordered(versions: Versions) -> None:
    versions.ran(1, None)
    assert versions.basis(1, ORDERED) == ORDERED
    assert versions.ran_last == ()


@pytest.mark.parametrize(
    ("edited", "solution", "test"),
    [
        ({"main": b"other"}, False, True),
        ({"in1": b"other"}, True, False),
        ({"out1": b"other"}, True, False),
        ({"in2": b"other"}, True, True),
    ],
)
def test_a_version_that_nobody_has_read_is_unknown_until_it_is(
    versions: Versions, edited: dict[str, bytes], solution: bool, test: bool
) -> None:
    assert not versions.is_any_unread
    versions.ran(1, used(1, **edited))
    assert versions.is_any_unread == (not (solution and test))
    so_far = versions.basis(1, OF(1))
    assert (so_far.solution, so_far.test) == (OF(1).solution if solution else "", OF(1).test if test else "")
    now = found(**edited)
    assert versions.read(now)
    assert not versions.is_any_unread
    assert versions.basis(1, so_far) == basis(now, 1)
    assert not versions.read(NOW)
    assert versions.basis(1, so_far) == basis(now, 1), "also when it is not there any more"


@pytest.mark.parametrize(
    ("files", "solution", "test"),
    [
        (used(1)._replace(main=None), False, True),
        (used(1)._replace(given=None), True, False),
        (used(1)._replace(wanted=None), True, False),
        (used(1)._replace(wanted=sha256(b"out1").digest()), True, True),
        (used(1)._replace(main=None, wanted=None), False, False),
    ],
)
def test_what_may_have_been_several_versions_is_none(
    versions: Versions, files: Used, solution: bool, test: bool
) -> None:
    """An answer that was known before may be there as its digest."""
    versions.ran(1, files)
    assert not versions.is_any_unread
    settled = versions.basis(1, ORDERED)
    assert (settled.solution, settled.test) == (OF(1).solution if solution else "", OF(1).test if test else "")
    assert (settled.interpreter, settled.terms) == (ORDERED.interpreter, ORDERED.terms)


def test_a_stamp_that_stands_for_two_versions_stands_for_none(versions: Versions) -> None:
    """They were written within one tick of the disk's clock."""
    versions.ran(1, used(1))
    other = Found(NOW.cases, {}, 2, sha256(b"other").digest(), True, main_stamp=NOW.main_stamp)
    assert versions.read(other)
    assert versions.basis(1, OF(1)) == Basis("", OF(1).test, OF(1).interpreter, OF(1).terms)
    for state in (NOW, other, NOW):
        assert not versions.read(state), "that is known"
        assert versions.basis(1, OF(1)).solution == ""


def test_what_cannot_be_told_apart_is_not_taken_for_anything(versions: Versions) -> None:
    """Where there is no stamp, as of a file that was edited while it was read."""
    unsure = Found({1: (CaseFile(b"x"), CaseFile(b"y"))}, {}, 1, sha256(b"main").digest(), True)
    assert not versions.read(unsure)
    assert not versions.read(Found({}, {}, 0, None, True, main_stamp=stamp(b"gone")))
    versions.ran(1, Used(None, None, None))
    assert versions.basis(1, OF(1)) == Basis("", "", OF(1).interpreter, OF(1).terms)


def test_a_file_that_could_not_be_read_is_a_version_like_any_other(versions: Versions) -> None:
    unreadable = Found(NOW.cases, {}, 2, b"", True, main_stamp=stamp(b"closed"))
    assert versions.read(unreadable)
    versions.ran(1, used(1, b"closed"))
    assert not versions.is_any_unread
    assert versions.basis(1, OF(1)) == basis(unreadable, 1) != OF(1)


def test_each_run_has_its_own_results(versions: Versions) -> None:
    versions.ran(1, used(1))
    versions.run_begins()
    assert versions.basis(1, ORDERED) == ORDERED
    assert versions.ran_last == ()


@pytest.mark.parametrize("cases", [1, 100])
def test_only_so_many_versions_are_remembered_and_always_those_that_are_there(cases: int) -> None:
    versions, there = Versions(), 2 * cases + 1
    for number in range(1_000):
        state = of_cases(cases, b"%d" % number)
        versions.read(state)
        versions.ran(1, used(1, b"%d" % number))
        assert versions.basis(1, OF(1)) == basis(state, 1)
        assert there <= len(versions._digests) <= 3 * there + 100


def test_of_what_is_forgotten_the_doubt_stays_while_it_is_there() -> None:
    versions = Versions()
    versions.read(NOW)
    versions.read(Found(NOW.cases, {}, 2, sha256(b"other").digest(), True, main_stamp=NOW.main_stamp))
    for number in range(1_000):
        versions.read(found(in1=b"%d" % number))
    versions.ran(1, used(1))
    assert versions.basis(1, OF(1)).solution == ""
