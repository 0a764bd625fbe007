"""How long a run may take, and how much it may use."""

import pytest

from actors.judge.limits import LONGEST, limits, memory_limit, time_limit
from codec.judge import RunSettings

CPU = [
    (None, 2000, 2400),
    (None, 1000, 1200),
    (None, 1, 2),
    (None, 2001, 2402),
    (None, 1234, 1481),
    (None, None, 2400),
    (None, 0, 2400),
    (None, -5, 2400),
    (None, 360_000, 432_000),
    (None, 10**18, LONGEST * 6 // 5),
    (500, 2000, 500),
    (500, None, 500),
    (1, 10_000, 1),
]


@pytest.mark.parametrize(("setting", "given", "cpu"), CPU)
def test_a_setting_wins_and_else_a_fifth_is_added(setting: int | None, given: int | None, cpu: int) -> None:
    found = limits(RunSettings(timeout_ms=setting), given, None)
    assert found.cpu_ms == cpu
    assert found.wall_ms >= cpu + 1000
    assert found.wall_ms >= 3 * cpu


@pytest.mark.parametrize(("given", "shown"), [(1500, 1500), (None, 2000), (0, 2000), (-1, 2000), (10**18, LONGEST)])
def test_a_problem_without_a_limit_has_the_usual_one(given: int | None, shown: int) -> None:
    assert time_limit(given) == shown


@pytest.mark.parametrize(("given", "shown"), [(256, 256), (None, 1024), (0, 1024), (-1, 1024)])
def test_a_problem_without_a_limit_of_memory_has_the_usual_one(given: int | None, shown: int) -> None:
    assert memory_limit(given) == shown


@pytest.mark.parametrize(
    ("setting", "given", "kilobytes"),
    [
        (None, 256, 262_144),
        (None, None, 1_048_576),
        (None, 0, 1_048_576),
        (64, 256, 65_536),
        (0, 256, None),
        (0, None, None),
        (64, None, 65_536),
    ],
)
def test_memory_is_the_settings_else_the_problems(
    setting: int | None, given: int | None, kilobytes: int | None
) -> None:
    assert limits(RunSettings(memory_limit_mb=setting), None, given).memory_kb == kilobytes
