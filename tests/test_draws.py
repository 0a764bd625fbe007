"""What a run of all tests draws of a table: as many cases as it says, the same for the same tree, each in its turn."""

from pathlib import Path

import pytest

from tests.draws import kept
from tests.planted import run_pytest

ROOT = Path(__file__).parents[1]
TABLES = {f"test_{name}": [f"test_{name}[{case}]" for case in range(cases)] for name, cases in (("a", 5), ("b", 42))}
MOST = {"test_a": 2, "test_b": 14}


def test_of_each_table_so_many_are_drawn_and_the_same_ones_by_the_same_seed() -> None:
    for seed in range(50):
        drawn = kept(TABLES, MOST, seed)
        assert {table: len(drawn & set(cases)) for table, cases in TABLES.items()} == MOST
        assert kept({table: cases[::-1] for table, cases in TABLES.items()}, MOST, seed) == drawn


def test_each_case_has_its_turn() -> None:
    drawn = [kept(TABLES, MOST, seed) for seed in range(60)]
    for cases in TABLES.values():
        for case in cases:
            assert any(case in some for some in drawn)


def test_a_new_case_takes_the_place_of_one_at_most() -> None:
    more = {"test_b": [*TABLES["test_b"], "test_b[new]"]}
    for seed in range(50):
        before, after = kept({"test_b": TABLES["test_b"]}, MOST, seed), kept(more, MOST, seed)
        assert after - before <= {"test_b[new]"}
        assert len(before - after) <= 1


TESTS = """
import pytest

@pytest.mark.drawn(3)
@pytest.mark.parametrize("case", range(20))
def test_alike(case): pass

@pytest.mark.parametrize("case", range(4))
def test_each(case): pass

ONE_OF_US = pytest.mark.drawn(1, of="us")

@ONE_OF_US
def test_of_us(): pass

@ONE_OF_US
@pytest.mark.parametrize("case", range(2))
def test_also_of_us(case): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "plenty", "drawn"), [([], "1", 3), ([], "2", 6), ([], "99", 20), (["tests"], "1", 20), (["-n1"], "1", 3)]
)
def test_a_run_of_all_tests_draws_and_whoever_names_tests_gets_them_all(
    tmp_path: Path, words: list[str], plenty: str, drawn: int
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = drawn: d\ntestpaths = tests\n")

    def passed(*more: str) -> set[str]:
        plain = ["-v", "-p", "tests.draws", "--import-mode=importlib"]
        run = run_pytest(tmp_path, *plain, *words, *more, env={"TROUPE_PLENTY": plenty})
        return {word for line in run.stdout.splitlines() if "PASSED" in line for word in line.split() if "::" in word}

    some = passed("--randomly-seed=1")
    assert len([test for test in some if "test_alike" in test]) == drawn
    assert len([test for test in some if "test_each" in test]) == 4
    assert len([test for test in some if "of_us" in test]) == (3 if words == ["tests"] else min(3, int(plenty)))
