"""What /proc tells of a process: from texts that no kernel has to be brought to."""

import os

import pytest

from transports.process.launcher import census
from transports.process.launcher.census import PAGE_BYTES, ProcessSeen


def stat_of(pid: int, state: str, *, name: str = "x", threads: int = 1, pages: int = 0) -> bytes:
    return f"{pid} ({name}) {state} 11 12 13 0 -1 0 0 0 0 0 31 32 33 34 20 0 {threads} 0 99 1000 {pages} 0 0".encode()


@pytest.mark.parametrize(
    ("state", "runnable", "zombie"),
    [("R", True, False), ("S", False, False), ("D", False, False), ("T", False, False), ("Z", False, True),
     ("X", False, True)],
)  # fmt: skip
@pytest.mark.parametrize("name", ["x", "a b", ") R 1 ("])
def test_a_process_is_read_whatever_it_calls_itself(state: str, runnable: bool, zombie: bool, name: str) -> None:
    seen = ProcessSeen(7, stat_of(7, state, name=name, threads=3, pages=5))
    assert (seen.pid, seen.place, seen.runnable, seen.zombie) == (7, "7", runnable, zombie)
    assert (seen.parent, seen.group, seen.threads, seen.began) == (11, 12, 3, 99)
    assert (seen.own_ticks, seen.children_ticks, seen.resident_bytes) == (31 + 32, 33 + 34, 5 * PAGE_BYTES)


class Told:
    """A /proc."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: dict[str, bytes] = {}
        monkeypatch.setattr(census, "read", lambda path: self.texts.get(path, b""))
        monkeypatch.setattr(os, "listdir", self._listed)

    def _listed(self, path: str | bytes) -> list[str] | list[bytes]:
        name = os.fsdecode(path)
        found = dict.fromkeys(each.removeprefix(f"{name}/").partition("/")[0] for each in self.texts if name in each)
        if not found:
            raise FileNotFoundError(name)
        return [each.encode() for each in found] if isinstance(path, bytes) else [*found]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    return Told(monkeypatch)


def test_of_each_other_thread_is_known_whether_it_is_ready_and_how_long_it_was_in_vain(told: Told) -> None:
    for thread, state, waited in ((7, "R", 9), (8, "R", 1_500_000_000), (9, "S", 250_000_000), (10, "S", None)):
        told.texts[f"/proc/7/task/{thread}/stat"] = stat_of(thread, state)
        if waited is not None:
            told.texts[f"/proc/7/task/{thread}/schedstat"] = b"5 %d 3" % waited
    every = [(b"8", True, 1.5), (b"9", False, 0.25), (b"10", False, 0.0)]
    assert census.other_threads(7, 64) == every
    assert census.other_threads(7, 3) == every[:2]  # so many are looked at
    assert census.other_threads(6, 64) == []
    told.texts["/proc/7/schedstat"] = b"5 2000000000 3"
    assert census.delay_seconds(7) == 2.0
    told.texts["/proc/7/schedstat"] = b"5"
    assert census.delay_seconds(7) == 0.0


def test_who_has_lost_its_main_thread_is_seen_in_another_that_is_left(told: Told) -> None:
    told.texts["/proc/7/stat"] = told.texts["/proc/7/task/7/stat"] = stat_of(7, "Z", threads=2)
    told.texts["/proc/7/task/8/stat"] = stat_of(8, "Z", threads=3)
    seen = census.member_of(7)
    assert seen is not None
    assert (seen.zombie, seen.place) == (True, "7")  # there is none
    told.texts["/proc/7/task/9/stat"] = stat_of(9, "R", threads=2, pages=4)
    seen = census.member_of(7)
    assert seen is not None
    assert (seen.zombie, seen.runnable, seen.resident_bytes, seen.place) == (False, True, 4 * PAGE_BYTES, "7/task/9")
    told.texts["/proc/7/stat"] = stat_of(7, "Z")  # it has but one, and that has ended
    seen = census.member_of(7)
    assert seen is not None
    assert (seen.zombie, seen.place) == (True, "7")
    assert census.member_of(6) is None


@pytest.mark.parametrize("lists_children", [True, False])
def test_a_family_is_found_by_either_way_once_each_and_up_to_a_bound(
    told: Told, monkeypatch: pytest.MonkeyPatch, lists_children: bool
) -> None:
    monkeypatch.setattr(census, "LISTS_CHILDREN", lists_children)
    parents = {2: 1, 3: 2, 4: 2, 5: 3, 6: 1, os.getpid(): 1, 8: os.getpid()}
    for pid, parent in parents.items():
        told.texts[f"/proc/{pid}/stat"] = stat_of(pid, "S").replace(b" 11 12", b" %d 12" % (parent, 1)[lists_children])
        below = [b"%d" % each for each, of in parents.items() if of == pid]
        if lists_children:  # and the parents, which were read at another time, do not count
            told.texts[f"/proc/{pid}/task/{pid}/children"] = b" ".join(below) + b" "
    told.texts["/proc/self/stat"] = b""
    assert sorted(each.pid for each in census.family([2])) == [2, 3, 4, 5]
    assert sorted(each.pid for each in census.family([2, 3, 9])) == [2, 3, 4, 5]
    assert sorted(census.children(2)) == [3, 4]
    assert census.children(5) == []
    assert census.own_children() == [8]
    if lists_children:  # it has changed its parent between the two
        told.texts["/proc/3/task/3/children"] = b"5 4 "
        assert sorted(each.pid for each in census.family([2])) == [2, 3, 4, 5]
    for most in (0, 1, 3, 4, 9):
        assert len(census.family([2], most)) == min(most, 4)


@pytest.mark.parametrize(
    ("key", "text", "number"),
    [(b"VmHWM:", b"Name:\tx\nVmHWM:\t  17 kB\nVmRSS: 3 kB", 17), (b"VmHWM:", b"VmHWM: 4", 4), (b"VmHWM:", b"", 0)],
)
def test_a_number_is_what_follows_its_name(key: bytes, text: bytes, number: int) -> None:
    assert census.number_after(key, text) == number


def test_memory_is_told_in_kilobytes(told: Told) -> None:
    told.texts["/proc/7/status"] = b"VmHWM:\t 5 kB\nRssAnon:\t 6 kB\n"
    told.texts["/proc/7/smaps_rollup"] = b"0-1 rollup\nPss: 7 kB\nPss_Anon: 8 kB\n"
    seen = census.peak_bytes(7), census.own_bytes(7), census.shared_out_bytes(7), census.own_shared_out_bytes(7)
    assert seen == (5 * 1024, 6 * 1024, 7 * 1024, 8 * 1024)
    assert census.peak_bytes(6) == census.shared_out_bytes(6) == 0
