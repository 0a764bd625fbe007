"""The manager with real programs: two of them and one editor, and a manager that is killed."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from actors.ipc import editor as module
from actors.ipc.editor import EDITOR, Readiness, StopEditor, editor_spec
from actors.kernel.testing import House, staged
from tests.ipc.paper import PaperBase
from tests.patience import PATIENCE
from transports.ipc.editor import DetachedEditor
from transports.ipc.processes import Census

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent

SCRIPT = 'echo $$ >> launched; setsid sleep 300 & trap "" TERM; while :; do sleep 0.02; done'
MANAGER = """
import sys, trio
from pathlib import Path
from actors.ipc import editor
from actors.ipc.editor import Readiness, editor_spec
from actors.kernel.testing import staged
from tests.ipc.paper import PaperBase
from transports.ipc.editor import DetachedEditor

async def main():
    editor.LOOK_SECONDS = 0.1
    place = Path(sys.argv[1])
    program = DetachedEditor(["/bin/sh", "-c", sys.argv[2]], place, cwd=place)
    async with staged(editor_spec(program, PaperBase(), Readiness(cold_start=0.1))) as house:
        while not (house["editor"].statistics().note or "").startswith("The editor is up"):
            await trio.sleep(0.02)
        print("up", flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Whatever was launched is gone after the test."""
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(module, "STANDING_BY_TICK", 0.1)
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.2)
    yield tmp_path
    if (tmp_path / "editor.json").exists():
        token = json.loads((tmp_path / "editor.json").read_bytes())["token"]
        for member in Census().family(token):
            Census().signal(member, signal.SIGKILL)


def launches(place: Path) -> list[int]:
    try:
        return [int(line) for line in (place / "launched").read_text().split()]
    except FileNotFoundError:
        return []


def beside(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)


@asynccontextmanager
async def managing(place: Path) -> AsyncIterator[House]:
    program = DetachedEditor(["/bin/sh", "-c", SCRIPT], place, cwd=place)
    async with staged(editor_spec(program, PaperBase(), Readiness(cold_start=0.1))) as house:
        yield house


async def says(house: House, beginning: str) -> str:
    with trio.fail_after(30):
        while not (note := house["editor"].statistics().note or "").startswith(beginning):  # noqa: ASYNC110
            await trio.sleep(0.02)
    return note


async def test_two_managers_launch_one_editor_and_the_second_takes_it_over(place: Path) -> None:
    async with managing(place) as one:
        await says(one, "The editor is up")
        async with managing(place) as two:
            await says(two, "The editor is managed by")
            one["editor"].begin_stop()
            up = await says(two, "The editor is up")
    (only,) = launches(place)
    assert up == f"The editor is up (process {only})."
    assert Census().start(only) is not None


async def test_a_manager_that_is_killed_leaves_the_editor_to_the_next_one_who_can_end_it(place: Path) -> None:
    command = [sys.executable, "-c", MANAGER, str(place), SCRIPT]
    with beside(command) as manager:
        assert manager.stdout is not None
        try:
            with trio.fail_after(30):
                await trio.lowlevel.wait_readable(manager.stdout)
        finally:
            manager.kill()
    async with managing(place) as house:
        await says(house, "The editor is up")
        (only,) = launches(place)
        token = json.loads((place / "editor.json").read_bytes())["token"]
        assert len(Census().family(token)) >= 2
        await house.stage.registry.get(EDITOR).ask(StopEditor, timeout=5)  # it ignores TERM
        await says(house, "The editor was ended")
        with trio.fail_after(PATIENCE):
            while Census().family(token):  # noqa: ASYNC110 - it is the system that is asked
                await trio.sleep(0.02)
    assert launches(place) == [only]
