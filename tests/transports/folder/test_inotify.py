"""What the kernel tells of a folder, taken apart."""

import errno
import os
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transports.folder.inotify import ARRIVALS, NO_LINKS, FolderEvent, Inotify

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no inotify on this system")
OVERFLOW, IGNORED, FOLDER, CREATE, MODIFY = 0x4000, 0x8000, 0x4000_0000, 0x100, 0x2
told = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.sets(st.sampled_from([OVERFLOW, IGNORED, FOLDER, CREATE, MODIFY])),
        st.sampled_from(["", "a", "ü", "a long name", "\udcff"]),
        st.integers(0, 3),
    )
)


@given(told)
def test_each_event_is_told_once_and_in_order(told: list[tuple[int, set[int], str, int]]) -> None:
    raw, expected = b"", []
    for number, flags, name, padding in told:
        encoded = os.fsencode(name) + b"\0" * (padding if name else 0)
        raw += struct.pack("iIII", -1 if OVERFLOW in flags else number, sum(flags), 0, len(encoded)) + encoded
        if OVERFLOW in flags:
            expected.append(FolderEvent(-1, "", of_folder=True))
        else:
            kind = {"of_folder": FOLDER in flags or not name, "over": IGNORED in flags}
            unfinished = bool(name) and MODIFY in flags and CREATE not in flags
            expected.append(FolderEvent(number, name, **kind, unfinished=unfinished))
    read, write = os.pipe()
    watcher = Inotify.__new__(Inotify)
    watcher._file = read
    os.set_blocking(read, False)
    try:
        assert watcher.read() == []
        assert not raw or os.write(write, raw) == len(raw)
        assert watcher.read() == expected
        assert [event.lost for event in expected] == [OVERFLOW in flags for _, flags, _, _ in told]
    finally:
        os.close(write)
        watcher.close()


@linux
def test_a_folder_has_one_number_by_each_of_its_ways_and_none_when_it_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    watcher = Inotify()
    here = os.open(tmp_path / "a", os.O_RDONLY)
    try:
        number = watcher.add(tmp_path / "a")
        assert watcher.add(tmp_path / "link") == watcher.add_opened(here) == number
        with pytest.raises(OSError, match="Not a directory") as caught:
            watcher.add(tmp_path / "link", ARRIVALS | NO_LINKS)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOTDIR, str(tmp_path / "link"))
        (tmp_path / "a" / "b").mkdir()
        (event,) = watcher.read()
        assert (event.number, event.name, event.of_folder, event.over) == (number, "b", True, False)
        watcher.remove(number)
        watcher.remove(number)
        (event,) = watcher.read()
        assert (event.number, event.over) == (number, True)
        (tmp_path / "a" / "c").touch()
        assert watcher.read() == []
    finally:
        os.close(here)
        watcher.close()


def test_where_there_is_none_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "other")
    with pytest.raises(OSError, match="there is no inotify on this system"):
        Inotify()
