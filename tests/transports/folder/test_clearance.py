"""Whatever a program can leave in a folder is deleted."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from transports.folder.clearance import clear_away


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "c").mkdir()
    (folder / "a" / "b" / "c").mkdir()
    (folder / "a" / "b" / "c" / "\udcff\n").write_text("")
    os.mkfifo(folder / "a" / "pipe")
    (tmp_path / "stays").mkdir()
    (tmp_path / "stays" / "file").write_text("")
    (folder / "a" / "link").symlink_to(tmp_path / "stays")
    clear_away(folder)
    assert os.listdir(tmp_path) == ["stays"]
    assert os.listdir(tmp_path / "stays") == ["file"]


@pytest.mark.slow
def test_a_folder_goes_however_deep_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    clear_away(folder)
    assert os.listdir(tmp_path) == []


def test_what_was_closed_to_its_owner_goes_too(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "closed" / "below").mkdir(parents=True)
    (folder / "closed" / "below" / "file").write_text("")
    for closed in (folder / "closed" / "below", folder / "closed", folder):
        closed.chmod(0)
    clear_away(folder)
    assert os.listdir(tmp_path) == []


def test_what_is_a_link_or_is_not_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stays").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "stays")
    clear_away(tmp_path / "link")
    clear_away(tmp_path / "missing")
    assert sorted(os.listdir(tmp_path)) == ["link", "stays"]


def test_while_it_goes_nobody_else_can_enter_any_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    for each in (folder / "a" / "b", folder / "a", folder):
        each.chmod(0o777)
    seen, scandir = [], os.scandir

    def look(there: int) -> Any:
        seen.append(stat.S_IMODE(os.fstat(there).st_mode))
        return scandir(there)

    monkeypatch.setattr(os, "scandir", look)
    clear_away(folder)
    assert seen == [0o700] * 3
    assert os.listdir(tmp_path) == []


def test_what_is_not_ours_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(0o755)
    (folder / "file").write_text("")
    (tmp_path / "plain").write_text("")
    clear_away(tmp_path / "plain")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    clear_away(folder)
    assert sorted(os.listdir(tmp_path)) == ["folder", "plain"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert os.listdir(folder) == ["file"]


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    clear_away(folder)
    assert len(os.listdir("/proc/self/fd")) == before
