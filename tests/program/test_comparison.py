"""The report in a terminal of any width."""

import random

import pytest

from codec.ipc.evaluation import METRICS, Metrics
from codec.ipc.report import RunChosen, Tried, report
from program.comparison import NARROWEST, draw
from program.terminal import cells

NAMES = ["plain", "日本語の名前", "x" * 60, "\x1b[31mred\n", "e"]


def runs(count: int) -> list[RunChosen]:
    dice = random.Random(1)
    return [
        RunChosen(
            name=name,
            tried=tuple(
                Tried(
                    id=str(number),
                    state="success",
                    seconds=0.2,
                    metrics=Metrics(**dict.fromkeys(METRICS, dice.random())),
                    has_reference=True,
                )
                for number in range(20)
            ),
        )
        for name in NAMES[:count]
    ]


@pytest.mark.parametrize("width", [1, NARROWEST, 60, 80, 200])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_the_columns_fit_and_no_name_moves_the_cursor(width: int, count: int) -> None:
    dice = random.Random(1)
    made = report(runs(count), lambda values, k: dice.choices(values, k=k), "now")
    text = draw(made, width=width)
    assert "\x1b" not in text
    table = text.split(" against ")[0].splitlines()[: -1 if count > 1 else None]
    assert all(cells(line) <= max(width, NARROWEST) for line in table)
    for label in ("requests", "BLEU", "median time"):
        rows = [line.split()[1:] for line in table if line.startswith(label)]
        assert count == 0 or rows


def test_runs_without_a_pair_are_said_to_be_incomparable() -> None:
    one, two = runs(2)
    apart = RunChosen(name="b", tried=tuple(Tried(id=f"x{each.id}", state="failed") for each in two.tried))
    text = draw(report([one, apart], lambda values, k: values, "now"), width=80)
    assert "cannot be compared pair by pair" in text


def test_what_was_not_evaluated_is_said_with_what_to_do() -> None:
    waiting = RunChosen(name="a", tried=(Tried(id="a", state="success", has_reference=True),))
    text = draw(report([waiting], lambda values, k: values, "now"), width=80)
    assert "1 answer not evaluated yet; `troupe ipc evaluate` does it." in text
