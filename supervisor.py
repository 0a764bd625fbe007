"""Troupe, from top to bottom: what the program does, and the tree it runs.

    troupe                     top: never dies of a child; one that keeps failing is paused, and tried again later
    ├─ store                   the one writer of the database
    ├─ sidekick                rooms · peers (one per connection) · door on :5163
    ├─ judge                   launcher · shelf · runs (cases under each) · problems · intake · panels · door on :10043
    └─ console                 observer · viewers (one per open page) · door on :5160

This file alone knows all the others. `python supervisor.py` is the same as `troupe`.
"""

import math
import os
import secrets
import sys
import time
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path

import trio

from actors import judge as judge_actors
from actors import sidekick as sidekick_actors
from actors.console import Desk, Facts, Observer, SystemFact, viewers_spec
from actors.kernel import ChildSpec, Stage, Top, supervisor_spec
from actors.store import StateDirectory, StateError, StoreError, copy_database, store_spec
from codec.judge import LONGEST_TASK, SHOWN, Stdin, Stdout
from codec.settings import Section, Settings
from program import arguments, judging, places, recording, replaying, signals, tree
from program.backup import back_up
from program.collector import settle
from program.config import described, load
from program.gauges import resident_bytes
from program.journal import Journal
from program.logs import logging_to
from program.ready import SERVER_FILE, ReadyFiles
from program.serving import Listeners, serve
from program.trouble import Trouble
from program.version import version
from program.visiting import Means
from transports.console import console_application, console_websocket
from transports.door import Door
from transports.judge import EXTENSIONS, judge_application, judge_websocket
from transports.limits import DoorLimits, HttpLimits, WebSocketLimits
from transports.listener import listener_spec
from transports.playground import Playground
from transports.policy import HostPolicy
from transports.process_launcher import launcher_spec
from transports.sidekick import sidekick_application, sidekick_websocket
from transports.sidekick_client import visit
from transports.solving import Machine, cores
from transports.task_folders import TaskFolders

STOP_WITHIN = 9.0
"""Seconds for the orderly stop of the whole tree; then what is left is killed."""

VISITING = Means(visit, partial(secrets.token_hex, 4), time.time)


def main(argv: Sequence[str] | None = None) -> int:
    return signals.quietly(partial(_main, sys.argv[1:] if argv is None else argv))


def _main(argv: Sequence[str]) -> int:
    try:
        match arguments.read(argv):
            case arguments.Serve() as command:
                run_server(command)
            case arguments.Tree() as command:
                return tree.show(command)
            case arguments.Check(config, overrides):
                print(described(load(config, overrides, default=places.config_file())))
            case arguments.Backup(target, state_dir, force):
                back_up(state_dir / "troupe.db", target, copy=copy_database, force=force)
            case arguments.Record() as command:
                return recording.record(command, VISITING)
            case arguments.Replay() as command:
                return replaying.replay(command, VISITING)
            case arguments.JudgeRun() as command:
                section = load(command.config, command.overrides, default=places.config_file()).judge
                return judging.judge(command, section, JUDGING)
    except (Trouble, StateError, StoreError) as trouble:
        print(f"troupe: {trouble}", file=sys.stderr)
        return getattr(trouble, "code", 2)
    return 0


def judge_run(wanted: judging.Wanted) -> judge_actors.Run:
    """One run of a folder that no server knows: its tests are all that is known of the problem."""
    order = judge_actors.Order(
        task=(),
        program=wanted.program,
        cwd=wanted.cwd,
        indices=wanted.indices,
        limits=judge_actors.limits(wanted.settings, None, None),
        compare=wanted.settings.compare,
        jobs=wanted.settings.jobs or cores(),
        input=Stdin(),
        output=Stdout(),
    )
    return judge_actors.Run(order, wanted.folders, wanted.machine, wanted.report)


JUDGING = judging.Means(
    folders=lambda folder, tests_dir: TaskFolders(folder, tests_dir=tests_dir, template="", head_bytes=0),
    machine=Machine,
    launcher=launcher_spec,
    run=judge_run,
)


def run_server(command: arguments.Serve) -> None:
    settings = load(command.config, command.overrides, default=places.config_file())
    files = [command.state_dir / SERVER_FILE, *([command.ready_file] if command.ready_file else [])]
    with (
        StateDirectory.claim(command.state_dir) as directory,
        logging_to(form=command.log_format, level=command.log_level),
        ReadyFiles(files) as ready,
    ):
        settle()
        trio.run(partial(_serve, settings, directory, ready, strict=command.strict))


async def _serve(settings: Settings, directory: StateDirectory, ready: ReadyFiles, *, strict: bool) -> None:
    listeners = Listeners([name for name in settings.listening() if name in SYSTEMS])
    await serve(
        troupe(settings, directory, listeners),
        listeners,
        announce=ready.announce,
        strict=strict,
        tracer=Journal(),
    )


# -- the tree

SYSTEMS = {
    "store": "keeps what must be kept",
    "sidekick": "scripts draw live boards",
    "judge": "runs solutions against their tests",
    "console": "shows the living tree",
}


def troupe(settings: Settings, directory: StateDirectory, listeners: Listeners) -> ChildSpec:
    children = [store_spec(directory)]
    if settings.sidekick.enabled:
        children.append(sidekick(settings, listeners))
    if settings.judge.enabled:
        children.append(judge(settings, listeners))
    if settings.console.enabled:
        children.append(console(settings, listeners))
    return ChildSpec("troupe", lambda: Top(children), start_timeout=math.inf, grace=STOP_WITHIN)


def sidekick(settings: Settings, listeners: Listeners) -> ChildSpec:
    playground = Playground(settings.sidekick.pyodide, settings.sidekick.scripts)

    def door(stage: Stage) -> Door:
        desk = sidekick_actors.Desk(stage.registry, stage.new_id, version(), time.time)
        return Door(
            app=sidekick_application(resources.files("web"), sidekick_actors.prose, playground),
            on_websocket=sidekick_websocket(desk),
            hosts=settings.sidekick.addresses,
            port=settings.sidekick.port,
            policy=HostPolicy(origins=("vscode-webview://*",)),
            limits=DoorLimits(connections=4096, websocket=WebSocketLimits(message_bytes=32 * 1024 * 1024)),
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "sidekick",
        [
            *sidekick_actors.crowd_specs(),
            listener_spec("sidekick", door, listeners.report),
        ],
    )


def judge(settings: Settings, listeners: Listeners) -> ChildSpec:
    section = settings.judge
    workspace = Path(section.workspace or Path.cwd())
    shelving = judge_actors.Shelving(
        TaskFolders(workspace, tests_dir=section.tests_dir, template=section.template, head_bytes=SHOWN),
        cache(partial(Machine, workspace)),
        time.time,
        cores(),
    )

    def door(stage: Stage) -> Door:
        desk = judge_actors.Desk(stage.registry, stage.new_id, shelving, chelper=section.chelper)
        return Door(
            app=judge_application(desk, resources.files("web")),
            on_websocket=judge_websocket(desk),
            hosts=section.addresses,
            port=section.port,
            policy=HostPolicy(origins=EXTENSIONS),
            limits=DoorLimits(http=HttpLimits(body_bytes=LONGEST_TASK)),
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "judge",
        [
            launcher_spec(),
            *judge_actors.judge_specs(shelving, section.run),
            listener_spec("judge", door, listeners.report),
        ],
    )


def console(settings: Settings, listeners: Listeners) -> ChildSpec:
    facts = Facts(version(), os.getpid(), started=time.time(), wall=time.time, memory=resident_bytes)
    systems = [
        SystemFact(name, enabled=getattr(settings, name, Section()).enabled, listens=name in listeners, about=about)
        for name, about in SYSTEMS.items()
    ]

    def door(stage: Stage) -> Door:
        desk = Desk(stage.registry, stage.new_id)
        return Door(
            app=console_application(desk, resources.files("web")),
            on_websocket=console_websocket(desk),
            hosts=settings.console.addresses,
            port=settings.console.port,
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "console",
        [
            ChildSpec("observer", lambda: Observer(facts, systems, listeners.known)),
            viewers_spec(),
            listener_spec("console", door, listeners.report),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
