"""The folders of groups: one goes with its keeper, if nobody is left in it, and all go with their launcher. A real
group is tried in `test_accounts.py`."""

from pathlib import Path

from transports.process.launcher.group import Groups


def test_a_group_goes_with_its_keeper_if_nobody_is_left_in_it(tmp_path: Path) -> None:
    groups = Groups(str(tmp_path / "troupe-1"))
    for keeper in ("7", "8", "9"):
        (tmp_path / "troupe-1" / keeper).mkdir(parents=True)
    (tmp_path / "troupe-1" / "8" / "somebody").touch()
    groups.left_by(7)
    groups.left_by(8)
    groups.left_by(10)  # it has had none
    assert {each.name for each in (tmp_path / "troupe-1").iterdir()} == {"8", "9"}
    groups.close()
    assert {each.name for each in (tmp_path / "troupe-1").iterdir()} == {"8"}
    (tmp_path / "troupe-1" / "8" / "somebody").unlink()
    groups.close()
    assert list(tmp_path.iterdir()) == []


def test_a_keeper_does_without_a_group_where_none_can_be_made(tmp_path: Path) -> None:
    assert Groups(str(tmp_path / "none")).enter() is None  # there is no folder
    assert Groups(str(tmp_path)).enter() is None  # and this one is no group
