"""Judge: the launcher of programs, the shelf of problems, runs, panels, and their door. And a run without a server."""

import time
from functools import cache, partial
from importlib import resources
from pathlib import Path

from actors import judge
from actors.kernel import AnySpec, Key, Registry, Stage, supervisor_spec
from codec.judge import LONGEST_TASK, SHOWN
from codec.settings import Settings
from program import places
from program.commands.judge import JudgeParts, RunWanted
from program.serving import Listeners
from transports.door.door import Door
from transports.door.listener import listener_spec
from transports.folder.watching import WatcherMessage, Watching, watcher_spec
from transports.http.pages import add_pages
from transports.judge.port import EXTENSIONS, WEBVIEWS, judge_application, judge_websocket
from transports.judge.solving import Machine, cores
from transports.judge.task_folders import TaskFolders
from transports.process.keepers import launcher_spec
from transports.wire.limits import DoorLimits, HttpLimits
from transports.wire.policy import HostPolicy

WATCHER = Key[WatcherMessage]("judge/watcher")


def judge_spec(settings: Settings, listeners: Listeners) -> AnySpec:
    section = settings.judge
    workspace = Path(section.workspace or places.here())
    problems = judge.Problems(
        TaskFolders(workspace, tests_dir=section.tests_dir, template=section.template, head_bytes=SHOWN),
        cache(partial(Machine, workspace, start_ahead=section.start_ahead)),
        time.time,
        cores(),
        partial(Watching, WATCHER),
        section.commands,
    )

    web = resources.files("web")

    def door(stage: Stage) -> Door:
        desk = judge.JudgeDesk(stage.registry, stage.new_id, problems, chelper=section.chelper)
        return Door(
            app=add_pages(judge_application(desk, web), web, listeners.urls),
            on_websocket=judge_websocket(desk),
            hosts=section.addresses,
            port=section.port,
            accounts=section.accounts,
            policy=HostPolicy(origins=WEBVIEWS, posters=EXTENSIONS),
            limits=DoorLimits(http=HttpLimits(body_bytes=LONGEST_TASK)),
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "judge",
        [
            launcher_spec(),
            watcher_spec(WATCHER),
            *judge.judge_specs(problems, section.run),
            listener_spec("judge", door, listeners.report),
        ],
    )


# -- without a server


def run_of(wanted: RunWanted) -> judge.Run:
    """One run of a folder without a server. Nothing is known of its problem except the tests."""
    order = judge.RunOrder(
        task=(),
        program=wanted.program,
        cwd=wanted.cwd,
        indices=wanted.indices,
        limits=judge.limits(wanted.settings, None, None),
        compare=wanted.settings.compare,
        jobs=wanted.settings.jobs or cores(),
        input=wanted.input,
        output=wanted.output,
    )
    return judge.Run(order, wanted.folders, wanted.machine, wanted.report)


def machine_of(folder: Path, registry: Registry, start_ahead: bool) -> Machine:
    return Machine(folder, registry, start_ahead=start_ahead)


def folders_of(folder: Path, tests_dir: str) -> TaskFolders:
    return TaskFolders(folder, tests_dir=tests_dir, template="", head_bytes=0)


JUDGING = JudgeParts(folders_of, machine_of, launcher_spec, run_of, judge.trouble)
