"""The files of a base, and whatever else may stand there."""

import os
from pathlib import Path

import pytest

from codec.ipc.report import Papers
from transports.ipc.offline import OfflineBase


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for room in ("requests", "responses", "failed", "archive/2026-01-31/old"):
        (tmp_path / room).mkdir(parents=True)
    (tmp_path / "requests" / "a.json").write_bytes(b"asked")
    (tmp_path / "responses" / "a.json").write_bytes(b"answered")
    (tmp_path / "failed" / "b.json").write_bytes(b"failed")
    (tmp_path / "archive" / "2026-01-31" / "old" / "eval.json").write_bytes(b"done")
    return tmp_path


def test_the_files_of_a_request_are_found_in_the_rooms_and_in_the_archive(base: Path) -> None:
    os.utime(base / "requests" / "a.json", ns=(0, 1_000_000_000))
    os.utime(base / "responses" / "a.json", ns=(0, 3_500_000_000))
    files = OfflineBase(base)
    assert set(files.ids()) == {"a", "b"}
    assert files.papers("a") == Papers(request=b"asked", response=b"answered", seconds=2.5)
    assert files.papers("b") == Papers(failed=b"failed")
    assert files.days() == ["2026-01-31"]
    assert list(files.archived("2026-01-31")) == ["old"]
    assert files.archived_papers("2026-01-31", "old") == Papers(evaluation=b"done")


def test_each_file_of_an_archived_request_is_found_under_its_name(base: Path) -> None:
    place = base / "archive" / "2026-01-31" / "old"
    for name in ("request", "response", "failed", "eval"):
        (place / f"{name}.json").write_bytes(name.encode())
    os.utime(place / "request.json", ns=(0, 1_000_000_000))
    os.utime(place / "response.json", ns=(0, 3_500_000_000))
    assert OfflineBase(base).archived_papers("2026-01-31", "old") == Papers(
        request=b"request", response=b"response", failed=b"failed", evaluation=b"eval", seconds=2.5
    )


@pytest.mark.parametrize("stands", [True, False])
def test_where_a_peer_has_taken_a_request_away_its_copy_counts(base: Path, stands: bool) -> None:
    (base / "submitted").mkdir()
    for each in ("a", "only"):
        (base / "submitted" / f"{each}.json").write_bytes(b"copied")
        os.utime(base / "submitted" / f"{each}.json", ns=(0, 1_000_000_000))
    os.utime(base / "requests" / "a.json", ns=(0, 2_000_000_000))
    os.utime(base / "responses" / "a.json", ns=(0, 3_500_000_000))
    if not stands:
        (base / "requests" / "a.json").unlink()
    files = OfflineBase(base)
    assert set(files.ids()) == {"a", "b", "only"}
    asked, seconds = (b"asked", 1.5) if stands else (b"copied", 2.5)
    assert files.papers("a") == Papers(request=asked, response=b"answered", seconds=seconds)
    assert files.papers("only") == Papers(request=b"copied")


def test_times_that_cannot_be_right_are_none(base: Path) -> None:
    os.utime(base / "requests" / "a.json", ns=(0, 9_000_000_000))
    os.utime(base / "responses" / "a.json", ns=(0, 3_500_000_000))
    files = OfflineBase(base)
    files.ids()
    assert files.papers("a").seconds is None


def test_what_is_no_plain_file_below_the_folder_is_as_if_it_were_not(base: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (base / "requests" / "link.json").symlink_to(secret)
    (base / "requests" / "folder.json").mkdir()
    os.mkfifo(base / "requests" / "pipe.json")
    (base / "responses" / "link.json").symlink_to(secret)
    (base / "requests" / "x.txt").write_bytes(b"")
    (base / "requests" / ".json").write_bytes(b"")
    (base / "archive" / "2026-01-31" / "old" / "request.json").symlink_to(secret)
    files = OfflineBase(base)
    assert set(files.ids()) == {"a", "b"}
    for id in ("link", "folder", "pipe"):  # noqa: A001
        assert files.papers(id) == Papers()
    assert files.archived_papers("2026-01-31", "old").request is None


def test_a_giant_is_not_read(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transports.ipc.offline.MOST_BYTES", 5)
    assert OfflineBase(base).papers("a").request == b"asked"
    assert OfflineBase(base).papers("a").response is None


def test_an_evaluation_replaces_what_is_there_as_a_whole_and_never_what_a_link_leads_to(base: Path) -> None:
    files = OfflineBase(base)
    other = base / "other"
    other.write_bytes(b"other")
    files.keep("a", b"one")
    files.keep("a", b"two")
    assert files.papers("a").evaluation == b"two"
    (base / "eval" / "b.json").symlink_to(other)
    files.keep("b", b"three")
    assert other.read_bytes() == b"other"
    assert sorted(os.listdir(base / "eval")) == ["a.json", "b.json"]
    (base / "eval" / "c.json").mkdir()
    with pytest.raises(OSError, match=r"."):
        files.keep("c", b"four")
    assert sorted(os.listdir(base / "eval")) == ["a.json", "b.json", "c.json"]


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    files = OfflineBase(tmp_path / "none")
    assert set(files.ids()) == set()
    assert list(files.days()) == []
