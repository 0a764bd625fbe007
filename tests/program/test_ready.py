import json
import os
import stat
from pathlib import Path

import pytest

from program.ready import SERVER_FILE, Announcement, ReadyFiles, read
from program.trouble import Trouble

URL = "http://127.0.0.1:5160"


def test_every_file_says_who_listens_where_and_who_is_down(tmp_path: Path) -> None:
    paths = [tmp_path / "ready.json", tmp_path / SERVER_FILE]
    with ReadyFiles(paths) as files:
        assert not any(path.exists() for path in paths)
        files.announce({"console": URL, "sidekick": None})
        for path in paths:
            assert json.loads(path.read_text()) == {"pid": os.getpid(), "listeners": {"console": URL, "sidekick": None}}
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert read(path) == Announcement(os.getpid(), {"console": URL, "sidekick": None})
    assert list(tmp_path.iterdir()) == []


def test_a_later_announcement_takes_the_place_of_the_first(tmp_path: Path) -> None:
    with ReadyFiles([tmp_path / "r"]) as files:
        files.announce({"console": None})
        files.announce({"console": URL})
        assert read(tmp_path / "r") == Announcement(os.getpid(), {"console": URL})


def test_the_files_go_however_the_block_ends(tmp_path: Path) -> None:
    def end_early() -> None:
        with ReadyFiles([tmp_path / "r"]) as files:
            files.announce({})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        end_early()
    assert list(tmp_path.iterdir()) == []


def test_whoever_reads_meanwhile_sees_the_old_or_the_new_but_nothing_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r"
    seen = []

    def look_then_replace(source: str, target: Path) -> None:
        seen.append(read(path))
        os.rename(source, target)

    with ReadyFiles([path]) as files:
        monkeypatch.setattr(os, "replace", look_then_replace)
        files.announce({"console": None})
        files.announce({"console": URL})
    assert seen == [None, Announcement(os.getpid(), {"console": None})]


def test_what_a_killed_server_left_is_taken_away_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text('{"pid": 1, "listeners": {}}')
    with ReadyFiles([path]):
        assert not path.exists()


def test_what_a_later_server_says_in_the_same_file_outlives_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "r"
    later = '{"pid": 1, "listeners": {}}'
    with ReadyFiles([path]) as files:
        files.announce({"console": URL})
        path.write_text(later)
    assert path.read_text() == later


def test_an_empty_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "r").touch()
    with ReadyFiles([tmp_path / "r"]) as files:
        files.announce({})
        assert read(tmp_path / "r") is not None


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("chapter one")
    with pytest.raises(Trouble, match="there is something else already"), ReadyFiles([path]):
        pass
    assert path.read_text() == "chapter one"


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    """/dev/null, for one who may remove it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Trouble, match="there is something else already"), ReadyFiles([tmp_path / "pipe"]):
        pass
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "there is something else already"),
        ("none/r", "has no folder to be in"),
        ("r" * 300, "cannot be there: File name too long"),
    ],
)
def test_a_place_that_cannot_be_is_refused_before_anything_starts(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(Trouble, match=sentence), ReadyFiles([tmp_path / name]):
        pass


def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with ReadyFiles([tmp_path / "r"]) as files:
        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(Trouble, match="cannot be written: No space left on device"):
            files.announce({})
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x", "listeners": {}}', '{"pid": 1}'])
def test_what_is_no_announcement_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "r").write_text(content)
    assert read(tmp_path / "r") is None
    assert read(tmp_path / "missing") is None
