"""`troupe ipc watch` on a terminal: what it says of speed and of the time that is left, over any course of events."""

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.ipc import Failure
from codec.ipc.desk import DeskTotals
from program import streams
from program.clerk import ServerAway
from program.commands import ipc_status
from program.commands.ipc_status import EVERY, MOST_AWAY, show_status, watch
from program.ending import EndedBySignal
from program.ipc_arguments import ShowStatus, WatchDesk
from program.trouble import Trouble

TOTAL = 1_000


class Watched:
    """A clerk at a desk without a server, where more and more requests are over; and a clock."""

    def __init__(self, base: Path, before: int, ended: list[int], now: float) -> None:
        self.base = base
        self._over = iter([before, *ended])
        self.now = now

    def totals(self) -> Any:
        raise ServerAway("nobody is there")

    def names_tell(self) -> bool:
        return True

    def counts(self) -> tuple[int, int, int]:
        return TOTAL, next(self._over), 0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path := tmp_path_factory.mktemp("base")).joinpath("requests").mkdir()
    return path


@given(st.integers(0, 400), st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 10**6))
def test_the_rate_is_that_of_what_has_ended_since_one_began_to_look(
    base: Path, before: int, steps: list[int], now: int
) -> None:
    ended = [before + sum(steps[: number + 1]) for number in range(len(steps))]
    clerk: Any = Watched(base, before, [*ended, TOTAL], float(now))
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ipc_status, "is_terminal", lambda _: True)
        patch.setattr(ipc_status, "time", SimpleNamespace(monotonic=lambda: clerk.now, sleep=clerk.sleep))
        patch.setenv("COLUMNS", "200")
        assert watch(WatchDesk(until_done=True), clerk, out) == 0
    pictures = [text for text in out.getvalue().splitlines() if "answered" in text]
    assert len(pictures) == len(steps) + 2
    for number, (over, picture) in enumerate(zip(ended, pictures[1:], strict=False), 1):
        rate = (over - before) / (number * EVERY)
        told = re.search(r"([0-9.]+)/s", picture)
        assert (told[1] if told else "") == (f"{rate:.1f}" if rate else "")


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("until_done", [False, True])
def test_a_folder_that_is_none_of_requests_is_named_and_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: bool, until_done: bool
) -> None:
    monkeypatch.setattr(ipc_status, "is_terminal", lambda _: live)
    clerk: Any = Watched(tmp_path / "mistyped", 0, [], 0.0)
    with pytest.raises(Trouble, match="mistyped is no folder of requests"):
        watch(WatchDesk(until_done=until_done), clerk, io.StringIO())


def test_status_says_what_cannot_be_read_now_and_why_the_first_cannot(base: Path) -> None:
    whys = ("requests/\x1b[1m.json: Input/output error", "requests/y.json: Input/output error")
    for count, said in ((1, "1 file cannot be read now"), (1_000, "1,000 files cannot be read now")):
        totals = DeskTotals(by_state={"success": 1}, withheld=count, withheld_reasons=whys)
        clerk: Any = SimpleNamespace(base=base, totals=lambda totals=totals: totals)
        out = io.StringIO()
        assert show_status(ShowStatus(None, json=False), clerk, out, io.StringIO()) == 0
        (line,) = [line for line in out.getvalue().splitlines() if "cannot be read" in line]
        assert line.startswith(f"{said}, such as requests/")
        assert line.endswith(".json: Input/output error")
        assert "\x1b" not in line


@pytest.mark.parametrize("why", ["No server is running there", "Process 7 serves it, with its state in y."])
def test_status_says_why_no_server_could_be_asked_and_not_that_there_is_none(base: Path, why: str) -> None:
    def totals() -> Any:
        raise ServerAway(why)

    clerk: Any = SimpleNamespace(base=base, totals=totals, counts=lambda: (3, 2, 0))
    out, err = io.StringIO(), io.StringIO()
    assert show_status(ShowStatus(None, json=False), clerk, out, err) == 0
    assert err.getvalue() == f"troupe: {why.rstrip('.')}. This is from the names of the files\n"


@pytest.mark.parametrize("failed", [0, 1])
@pytest.mark.parametrize("names_tell", [True, False])
def test_where_names_do_not_tell_a_failure_is_not_said_to_be_the_last(
    base: Path, monkeypatch: pytest.MonkeyPatch, names_tell: bool, failed: int
) -> None:
    def totals() -> Any:
        raise ServerAway("No server is running there")

    clerk: Any = SimpleNamespace(
        base=base, totals=totals, counts=lambda: (3, 2, failed), names_tell=lambda: names_tell
    )
    out, err = io.StringIO(), io.StringIO()
    assert show_status(ShowStatus(None, json=False), clerk, out, err) == failed
    said = "only a running server knows whether what has failed is tried again"
    assert (said in err.getvalue()) is (failed == 1 and not names_tell)
    if failed:
        monkeypatch.setattr(ipc_status, "is_terminal", lambda _: True)
        monkeypatch.setattr(ipc_status, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: None))
        monkeypatch.setattr(streams, "expect_reader", _leave)
        monkeypatch.setenv("COLUMNS", "300")
        out = io.StringIO()
        assert watch(WatchDesk(until_done=False), clerk, out) == 0
        assert (said in out.getvalue()) is not names_tell


def _leave(_out: Any) -> None:
    raise EndedBySignal(2)


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        (DeskTotals(by_state={}, down="Process 7 answers the requests."), "may not know of all requests now"),
        (DeskTotals(by_state={"success": 2}, down="Process 7 answers."), "may not know of all requests now"),
        (DeskTotals(by_state={"success": 2}, filling=True), "has just begun, and is still reading its journal"),
        (DeskTotals(by_state={}), "has seen to no request yet"),
    ],
)
def test_a_server_that_does_not_know_of_all_requests_is_not_believed_that_all_are_over(
    base: Path, monkeypatch: pytest.MonkeyPatch, totals: DeskTotals, said: str
) -> None:
    """One that stands by while another one serves, one that has just begun, and one without a client end."""
    counts = iter([(9, 2, 0), (9, 2, 0), (9, 3, 0), (9, 8, 1)])
    clerk: Any = SimpleNamespace(base=base, totals=lambda: totals, counts=lambda: next(counts), names_tell=lambda: True)
    out, err = io.StringIO(), io.StringIO()
    assert show_status(ShowStatus(None, json=False), clerk, out, err) == 0
    assert out.getvalue().splitlines() == [
        f"{base}: 9 requests: 2 answered, 7 under way",
        *([totals.down] if totals.down else []),
    ]
    assert err.getvalue() == f"troupe: The server there {said}. This is from the names of the files\n"
    monkeypatch.setattr(ipc_status, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: None))
    assert watch(WatchDesk(until_done=True), clerk, io.StringIO()) == 1
    assert not list(counts)


@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("was_there", [False, True])
def test_who_waits_for_the_end_of_all_is_told_when_the_server_stays_away(
    base: Path, monkeypatch: pytest.MonkeyPatch, was_there: bool, comes_back: bool
) -> None:
    """It is not taken for their end, whatever the names of the files say. Nor is it if none is there from the start,
    where the last one spoke HEAD."""
    away = 3.0 if was_there else 0.0
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def totals() -> DeskTotals:
        if now >= away and not (comes_back and now >= 9.0):
            raise ServerAway("No server is running there")
        return DeskTotals(by_state={"retrying": 3} if now < 12.0 else {"success": 3})

    out = io.StringIO()
    clerk: Any = SimpleNamespace(base=base, totals=totals, counts=lambda: (0, 0, 0), names_tell=lambda: was_there)
    monkeypatch.setattr(ipc_status, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    monkeypatch.setattr(ipc_status, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "100")
    if comes_back:
        assert watch(WatchDesk(until_done=True), clerk, out) == 0
    else:
        with pytest.raises(Trouble, match="The server is not there") as told:
            watch(WatchDesk(until_done=True), clerk, out)
        assert told.value.code == 1
    assert now == (12.0 if comes_back else away - EVERY * was_there + MOST_AWAY + EVERY)
    assert "No server is running there. This is from the names of the files\n" in out.getvalue()


@pytest.mark.parametrize("by_head", [False, True])
def test_status_of_one_that_a_head_editor_has_failed_says_that_only_the_server_knows(base: Path, by_head: bool) -> None:
    def detail(_id: str) -> Any:
        raise ServerAway("nobody is there")

    seen = SimpleNamespace(outcome=Failure("busy"), error=None, is_gone=False, is_copy=by_head)
    clerk: Any = SimpleNamespace(base=base, detail=detail, look=lambda _: seen)
    out = io.StringIO()
    assert show_status(ShowStatus("r1", json=False), clerk, out, io.StringIO()) == 1
    unsure = "r1: failed: busy (only a running server knows whether it is tried again)\n"
    assert out.getvalue() == (unsure if by_head else "r1: gave up: busy\n")


def test_a_server_at_an_empty_folder_is_believed(base: Path) -> None:
    clerk: Any = SimpleNamespace(base=base, totals=lambda: DeskTotals(by_state={}), counts=lambda: (0, 0, 0))
    out, err = io.StringIO(), io.StringIO()
    assert show_status(ShowStatus(None, json=False), clerk, out, err) == 0
    assert (out.getvalue(), err.getvalue()) == (f"{base}: 0 requests: 0 answered\n", "")
