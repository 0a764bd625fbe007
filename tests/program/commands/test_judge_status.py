"""On a terminal, nothing of the status line stays when a run has ended, or could not be made."""

import io
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from program.arguments import JudgeRun
from program.commands.judge import _Terminal
from program.status import _CLEAR


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
    terminal.begin(3)
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
