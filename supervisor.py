"""Troupe, from top to bottom: what the program does, and the tree it runs.

    troupe                     top: outlives its children; one that keeps failing is paused, and tried again later
    ├─ store                   the one writer of the database
    ├─ sidekick                boards · rooms · peers (one per connection) · door on :5163
    ├─ judge                   launcher · watcher · shelf · runs (cases under each) · problems · intake · panels ·
    │                          door on :10043
    ├─ ipc                     base · server · client · editor · evaluator · ledger · viewers · door on :5164
    ├─ agent                   launcher · commands · workspaces · indexes · models · sessions · turns · clients ·
    │                          door on :3199
    └─ console                 observer · viewers (one per open page) · door on :5160

Each branch is built by a file in systems/. `python supervisor.py` is the same as `troupe`.

A command imports its code only when it is given. So `troupe tree` need not wait for a web server to load, and a Ctrl-C
during an import ends the program without a traceback (program/ending.py).
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from program import ending, streams
from program.trouble import Trouble

if TYPE_CHECKING:
    from actors.kernel import AnySpec
    from actors.store import StateDirectory
    from codec.settings import Settings
    from program.arguments import Command, Serve
    from program.serving import Listeners

STOP_WITHIN = 9.0
"""Seconds for the orderly stop of the whole tree; then the rest of it is killed."""
ENDS_WITHIN = 10.0
"""Seconds until the process leaves, even if something still hangs."""


# -- the commands


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code."""
    if argv is None:  # we are the program itself, and not called from another
        ending.settle()
        streams.complete()
        argv = sys.argv[1:]
    from program import arguments

    try:
        return obey(arguments.read(argv))
    except ending.EndedBySignal as interrupted:
        return interrupted.code
    except Trouble as trouble:
        for sentence in str(trouble).splitlines():  # of several wrong settings, each is a line
            streams.say(f"troupe: {sentence}\n", sys.stderr)
        return trouble.code


def obey(command: "Command") -> int:
    from program import agent_arguments, arguments, ipc_arguments, places
    from program.config import described, load

    match command:
        case arguments.Serve():
            run_server(command)
        case arguments.Tree():
            from program.commands.tree import show

            return show(command)
        case arguments.Check(config, overrides):
            settings = load(config, overrides, default=places.config_file())
            streams.show(described(settings) + "\n", sys.stdout)
        case arguments.Backup(target, state_dir, force):
            from actors.store import copy_database
            from program.commands.backup import back_up

            with ending.tidily():
                back_up(state_dir / "troupe.db", target, copy=copy_database, force=force)
        case arguments.Record():
            from program.commands.record import record
            from systems.visiting import VISITING

            return record(command, VISITING)
        case arguments.Replay():
            from program.commands.replay import replay
            from systems.visiting import VISITING

            return replay(command, VISITING)
        case arguments.JudgeRun(config=config, overrides=overrides):
            from program.commands.judge import judge
            from systems.judge import JUDGING

            section = load(config, overrides, default=places.config_file()).judge
            return judge(command, section, JUDGING)
        case ipc_arguments.Ipc():
            from program.commands.ipc import work
            from systems.ipc_commands import IPC

            return work(command, IPC)
        case agent_arguments.AskAgent():
            from program.commands.agent import ask
            from systems.agent_commands import AGENT

            return ask(command, AGENT)
        case agent_arguments.SearchFolder():
            from program.commands.agent_search import search
            from systems.agent_commands import AGENT

            return search(command, AGENT)
        case agent_arguments.ListSessions():
            from program.commands.agent_sessions import sessions
            from systems.agent_commands import AGENT

            return sessions(command, AGENT)
    return 0


# -- the server


def run_server(command: "Serve") -> None:
    from program import collector

    collector.rest()
    from functools import partial

    import structlog
    import trio

    from actors.store import StateDirectory, StateError
    from program import allocation, open_files, places
    from program.config import load
    from program.journal import Journal
    from program.leaving import Leaving, left_behind
    from program.logs import logging_to
    from program.ready import SERVER_FILE, ReadyFiles
    from program.serving import Listeners, serve

    settings = load(command.config, command.overrides, default=places.config_file())
    if not RUN_PROGRAMS.isdisjoint(settings.enabled()):
        places.check_interpreter()
    files = [command.state_dir / SERVER_FILE, *([command.ready_file] if command.ready_file else [])]
    try:
        with (
            StateDirectory.claim(command.state_dir) as directory,
            logging_to(form=command.log_format, level=command.log_level),
            ReadyFiles(files) as ready,
            Leaving(ENDS_WITHIN) as leaving,
        ):
            listeners = Listeners([name for name in SYSTEMS if name in settings.enabled()])
            tree = troupe(settings, directory, listeners)
            collector.settle()
            allocation.settle()
            open_files.settle()
            serving = partial(serve, announce=ready.announce, strict=command.strict, on_stop=leaving.begin)
            trio.run(partial(serving, tree, listeners, tracer=Journal()))
            if left := left_behind():
                structlog.get_logger("troupe").error("left behind, for they do not end", threads=left)
    except StateError as error:
        raise Trouble(str(error)) from None


# -- the tree

SYSTEMS = {
    "store": "stores boards and problems",
    "sidekick": "scripts draw live boards",
    "judge": "runs solutions against their tests",
    "ipc": "requests and responses as files, for scripts and an editor",
    "agent": "answers questions about your files, with a model",
    "console": "shows the live tree",
}

RUN_PROGRAMS = {"judge", "ipc", "agent"}


def troupe(settings: "Settings", directory: "StateDirectory", listeners: "Listeners") -> "AnySpec":
    import math

    from actors.kernel import ChildSpec, Top
    from actors.store import store_spec

    children: list[AnySpec] = [store_spec(directory)]
    if settings.sidekick.enabled:
        from systems.sidekick import sidekick_spec

        children.append(sidekick_spec(settings, listeners))
    if settings.judge.enabled:
        from systems.judge import judge_spec

        children.append(judge_spec(settings, listeners))
    if settings.ipc.enabled:
        from systems.ipc import ipc_spec

        children.append(ipc_spec(settings, listeners))
    if settings.agent.enabled:
        from systems.agent import agent_spec

        children.append(agent_spec(settings, listeners, directory.path))
    if settings.console.enabled:
        from systems.console import console_spec

        children.append(console_spec(settings, listeners, SYSTEMS))
    return ChildSpec("troupe", lambda: Top(children), start_timeout=math.inf, grace=STOP_WITHIN)


if __name__ == "__main__":
    sys.exit(main())
