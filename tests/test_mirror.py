"""tests/ mirrors the rooms: who looks for the tests of a file finds them where the file is.

    transports/ROOM/x.py    tests/transports/ROOM/test_x.py
    program/ROOM/x.py       tests/program/ROOM/test_x.py
    troupe/ROOM/x.py        tests/troupe/ROOM/test_x.py
    codec/SYSTEM/x.py       tests/SYSTEM/codec/test_x.py

A test need not be of one file; what is called as a file is, must be. tests/SYSTEM/ itself has what is of the whole.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MIRRORED = ("transports", "program", "troupe")
SYSTEMS = ("judge", "sidekick")


def rooms(root: Path) -> set[str]:
    """The folders below it that hold any Python."""
    return {path.parent.relative_to(root).as_posix() for path in root.rglob("*.py")}


@pytest.mark.parametrize("floor", MIRRORED)
def test_a_folder_of_tests_is_a_room_and_every_room_has_one(floor: str) -> None:
    assert rooms(ROOT / "tests" / floor) == rooms(ROOT / floor)


@pytest.mark.parametrize("floor", MIRRORED)
def test_what_is_called_as_a_file_is_stands_where_the_file_does(floor: str) -> None:
    homes: dict[str, set[str]] = {}
    for path in (ROOT / floor).rglob("*.py"):
        homes.setdefault(f"test_{path.name}", set()).add(path.parent.relative_to(ROOT).as_posix())
    astray = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / floor).rglob("test_*.py")
        if path.name in homes and path.parent.relative_to(ROOT / "tests").as_posix() not in homes[path.name]
    ]
    assert astray == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_said_on_the_wire_is_tested_apart_from_who_says_it(system: str) -> None:
    said = {f"test_{path.name}" for path in (ROOT / "codec" / system).glob("*.py")}
    done = {f"test_{path.name}" for path in (ROOT / "actors" / system).glob("*.py")}
    here = {path.name for path in (ROOT / "tests" / system).glob("test_*.py")}
    assert here & (said - done) == set()
