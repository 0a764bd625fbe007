"""A running server runs only programs that its configuration names, whatever a client sends."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.running import server
from tests.judge.kit import post
from tests.judge.port import SUMS, Port

MARKS = '#!/bin/sh\ntouch {mark}\nexec {python} "$@"\n'


@pytest.mark.slow
async def test_nothing_that_is_said_over_the_wire_makes_the_server_run_another_program(tmp_path: Path) -> None:
    mark, script = tmp_path / "ran", tmp_path / "evil"
    script.write_text(MARKS.format(mark=mark, python=sys.executable))
    script.chmod(0o755)
    workspace = tmp_path / "workspace"
    with server(tmp_path, "--set", f"judge.workspace={workspace}") as house:
        port = Port(house.ready(), workspace)
        evil: dict[str, Any] = {"command": str(script), "pythonCommand": str(script), "template": str(script)}
        assert port.post(post("evil/evil_a", ("1 2\n", "3\n"), **evil)).status_code == 200
        async with port.panel() as panel:
            await panel.say("ui/openProblem", id="evil/evil_a")
            await panel.shows("evil/evil_a")
            (port.folder("evil/evil_a") / "main.py").write_text(SUMS)
            for name in ("pythonCommand", "pypyCommand"):
                await panel.say("ui/updateSettings", settings={name: str(script), "interpreter": "cpython"})
                assert "which the configuration names" in await panel.notice()
            for name in ("cwd", "env", "template", "command", "workspace"):
                await panel.say("ui/updateSettings", settings={name: str(script)})
                assert "is not a setting" in await panel.notice()
            await panel.say("ui/switchInterpreter", interpreter=str(script))
            assert 'interpreter must be "cpython" or "pypy"' in await panel.notice()
            await panel.say("ui/runAll", command=str(script), pythonCommand=str(script), interpreter=str(script))
            results, _ = await panel.ended()
            assert [each["status"] for each in results] == ["pass"]
    assert not mark.exists()
