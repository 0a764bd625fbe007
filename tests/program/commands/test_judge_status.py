"""On a terminal, nothing of the status line stays when a run has ended, or could not be made."""

import io
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import trio
from trio.testing import MockClock

from program.arguments import JudgeRun
from program.commands.judge import BAR, _Terminal, judge
from program.status import _CLEAR
from program.trouble import Trouble
from tests.program.test_scorecard import result


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("ends", ["it could not be made", "it has ended"])
async def test_the_status_line_is_cleared(ends: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TERM", "xterm")
    await trio.lowlevel.checkpoint()
    out, err = Tty(), Tty()
    command = cast("JudgeRun", type("Command", (), {"json": False, "folder": tmp_path})())
    terminal: Any = _Terminal(command, out, err)
    terminal.begin(3, None)
    shown = err.getvalue()
    assert shown
    assert not shown.endswith(_CLEAR)
    if ends == "it has ended":
        terminal.end(interrupted=False)
    else:
        terminal.clear()
    assert err.getvalue()[len(shown) :].startswith(_CLEAR)
    terminal.clear()
    assert err.getvalue().count(_CLEAR) == 1


@pytest.mark.parametrize("json", [False, True])
async def test_a_run_that_is_interrupted_before_its_tests_are_known_has_taken_no_time(
    json: bool, tmp_path: Path
) -> None:
    await trio.lowlevel.checkpoint()
    out = io.StringIO()
    command = cast("JudgeRun", type("Command", (), {"json": json, "folder": tmp_path})())
    _Terminal(command, out, io.StringIO()).end(interrupted=True)
    if json:
        told = msgspec.json.decode(out.getvalue(), type=dict[str, Any])
        assert (told["summary"]["total"], told["summary"]["durationMs"], told["cancelled"]) == (0, 0, True)
    else:
        assert out.getvalue() == "0 of 0 passed · 0 ms\n"


async def test_a_bar_is_as_full_as_cases_are_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, autojump_clock: MockClock
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, err = Tty(), Tty()
    command = cast("JudgeRun", type("Command", (), {"json": False, "folder": tmp_path})())
    terminal = _Terminal(command, out, err)
    terminal.begin(3, None)
    shown = [err.getvalue()]
    for status in ("pass", "fail", "pass"):
        before = len(err.getvalue())
        terminal.take(result(status=cast("Any", status)))
        shown.append(err.getvalue()[before:])
        await trio.sleep(0.5)
    for done, (text, passed) in enumerate(zip(shown, (0, 1, 1, 2), strict=True)):
        full = BAR * done // 3
        assert f"{'█' * full}{'░' * (BAR - full)}  {done} of 3 judged, {passed} passed" in text
    monkeypatch.setenv("NO_COLOR", "1")
    terminal.end(interrupted=False)
    assert "2 of 3 passed" in out.getvalue()
    assert out.getvalue().endswith(" · 1,500 ms\n")


def test_it_needs_a_python_that_can_be_started_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "none"))
    command = cast("JudgeRun", type("Command", (), {"json": False, "folder": tmp_path})())
    with pytest.raises(Trouble, match=r"none is missing, or this account may not execute it\."):
        judge(command, cast("Any", None), cast("Any", None), io.StringIO(), io.StringIO())
