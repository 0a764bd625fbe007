"""In the whole running server, every supervisor that starts children at runtime is a crowd, and never fails by them."""

from pathlib import Path

import pytest
import trio

from actors.judge import Run
from actors.kernel import Crowd, Stage, Supervisor, run
from actors.store import StateDirectory
from codec.settings import parse
from program.serving import Listeners
from supervisor import troupe

CROWDS = {
    "troupe/sidekick/rooms",
    "troupe/sidekick/peers",
    "troupe/judge/runs",
    "troupe/judge/problems",
    "troupe/judge/panels",
    "troupe/agent/commands",
    "troupe/agent/indexers",
    "troupe/agent/turns",
    "troupe/agent/awake",
    "troupe/agent/clients",
    "troupe/console/viewers",
}
PORTS = [f"{system}.port=0" for system in ("sidekick", "judge", "agent", "console")]


@pytest.mark.slow
async def test_whoever_takes_children_in_is_a_crowd(tmp_path: Path) -> None:
    settings = parse("", source="", overrides=[*PORTS, f'judge.workspace="{tmp_path}"'])
    listeners, stages = Listeners(list(settings.enabled())), list[Stage]()
    with StateDirectory.claim(tmp_path / "state") as directory:
        async with trio.open_nursery() as nursery:
            spec = troupe(settings, directory, listeners)
            nursery.start_soon(lambda: run(spec, on_stage=stages.append))
            while not listeners.settled:
                await listeners.changed()
            supervisors = {
                slot.path: slot.incarnation.actor
                for slot in stages[0].slots()
                if slot.incarnation is not None and isinstance(slot.incarnation.actor, Supervisor)
            }
            nursery.cancel_scope.cancel()
    assert {path for path, actor in supervisors.items() if actor.max_children} == CROWDS
    assert {path for path, actor in supervisors.items() if isinstance(actor, Crowd)} == CROWDS


def test_a_run_is_a_crowd_of_workers() -> None:
    assert issubclass(Run, Crowd)
