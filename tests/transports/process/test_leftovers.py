"""What a launcher has left is known by the rank that it gives to all that it runs, unless the server has that rank."""

import os

import pytest

from transports.process import leftovers
from transports.process.launcher import census
from transports.process.launcher.system import GOES_FIRST


@pytest.mark.parametrize(
    ("own", "left"), [(0, [3, 4]), (GOES_FIRST - 1, [3, 4]), (GOES_FIRST, []), (GOES_FIRST + 1, [])]
)
def test_of_our_children_those_are_left_that_go_first_unless_we_do(
    monkeypatch: pytest.MonkeyPatch, own: int, left: list[int]
) -> None:
    places = {"self": own, "2": GOES_FIRST - 1, "3": GOES_FIRST, "4": GOES_FIRST + 1}
    monkeypatch.setattr(leftovers, "_place", places.__getitem__)
    monkeypatch.setattr(census, "children", lambda pid: [2, 3, 4] if pid == os.getpid() else [])
    assert leftovers._leftovers() == left
