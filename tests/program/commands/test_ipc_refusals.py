"""What of an order was refused: each with its reason up to a number, and how many more there are."""

import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from codec.ipc.desk import Handled, Selection
from program.clerk import DeskMeans
from program.commands.ipc import SHOWN, work
from program.ipc_arguments import Chosen, DeskPlace, Ipc
from program.trouble import WENT_WRONG


class Refusing:
    """A clerk whose server does one thing, and refuses so many."""

    def __init__(self, refused: int) -> None:
        self._refused = {f"r{number}": "not over" for number in range(refused)}

    def order(self, _what: str, _which: Selection) -> Handled:
        return Handled(ids=("done",), refused=self._refused)


@pytest.mark.parametrize(
    ("refused", "told", "last"),
    [
        (0, 0, None),
        (1, 1, "troupe: r0: not over"),
        (SHOWN, SHOWN, f"troupe: r{SHOWN - 1}: not over"),
        (SHOWN + 1, SHOWN + 1, "troupe: and 1 request more"),
        (SHOWN + 2_000, SHOWN + 1, "troupe: and 2,000 requests more"),
    ],
)
def test_so_many_refusals_are_told_one_by_one_and_the_others_counted(refused: int, told: int, last: str | None) -> None:
    clerk: Any = Refusing(refused)
    means = DeskMeans(
        visit=lambda _: nullcontext(clerk), files=cast("Any", None), base=cast("Any", None), wall=cast("Any", None)
    )
    chosen = Chosen("cancel", ("done",), all=False, match="", older_than_days=None, json=False)
    out, err = io.StringIO(), io.StringIO()
    code = work(Ipc(DeskPlace(None, None, Path(), None), chosen), means, out, err)
    assert out.getvalue() == "1 request cancelled\n"
    lines = err.getvalue().splitlines()
    assert (len(lines), lines[-1] if lines else None) == (told, last)
    assert code == (WENT_WRONG if refused else 0)
