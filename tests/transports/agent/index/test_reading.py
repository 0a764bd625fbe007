"""A file that is written to while it is read is read again, whole, and kept so that the next scan looks into it."""

from pathlib import Path

import pytest

from codec.agent.files import digest_of
from transports.agent.index import reading
from transports.agent.index.reading import TRIES, UNSURE, read_files
from transports.folder.rooted import FileEntry, Rooted


@pytest.mark.parametrize("edits", range(TRIES + 2))
def test_what_is_edited_while_it_is_read_is_taken_whole_as_it_is_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edits: int
) -> None:
    file = tmp_path / "a.py"
    read_all, left = reading._all, edits

    def write(number: int) -> None:
        file.write_text(f"kiwi = {number}\n" * (number + 1))

    def read_and_edit(descriptor: int, size: int) -> bytes:
        nonlocal left
        data = read_all(descriptor, size)
        if left:
            write(left)
            left -= 1
        return data

    write(9)
    monkeypatch.setattr(FileEntry, "is_fresh", False)
    monkeypatch.setattr(reading, "_all", read_and_edit)
    (taken,) = read_files(Rooted(tmp_path), ["a.py"], {}, lambda: None)
    reads = min(edits + 1, TRIES)
    held = 9 if reads == 1 else edits - reads + 2
    assert taken.digest == digest_of(f"kiwi = {held}\n".encode() * (held + 1))
    assert taken.entry is not None
    assert (taken.entry.changed_ns == UNSURE) == (edits >= TRIES)
