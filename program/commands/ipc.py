"""`troupe ipc ...`: submits requests at the desk, shows what becomes of them, and gives orders about them.

submit, evaluate, report     work on the files alone
status, watch                read the files, and ask a running server for what the files do not tell
requeue, cancel, archive     are orders to the running server
editor                       asks the running server, or gives it an order

exit code    when
0            all went well
1            something has failed, was refused, or nobody is at the desk
2            the command line is wrong
130          Ctrl-C: what was submitted or ordered goes on
"""

import sys
from typing import TextIO

import msgspec

from codec.ipc.desk import EditorAnswer, Handled, Selection
from codec.printable import printable
from codec.words import counted
from program import streams
from program.clerk import Clerk, DeskMeans
from program.commands import ipc_evaluate, ipc_report
from program.commands.ipc_status import show_status, watch
from program.commands.ipc_submit import submit
from program.ending import EndedBySignal, tidily
from program.ipc_arguments import AskEditor, Chosen, Evaluate, Ipc, MakeReport, ShowStatus, SubmitAtDesk, WatchDesk
from program.trouble import WENT_WRONG

SHOWN = 20
"""Refusals that are told one by one."""
NO_EDITOR = "No editor is managed here; ipc.editor names the command that starts one."
_DONE = {"requeue": "requeued", "cancel": "cancelled", "archive": "archived"}


def work(command: Ipc, means: DeskMeans, out: TextIO | None = None, err: TextIO | None = None) -> int:
    """The exit code."""
    out, err = out or sys.stdout, err or sys.stderr
    match command.deed:
        case Evaluate(asked):
            with tidily():
                base = means.files(means.base(command.place), command.place)
                return ipc_evaluate.run(asked, base, now=means.wall(), out=out, err=err)
        case MakeReport(asked):
            with tidily():
                usual = means.base(command.place)
                return ipc_report.run(
                    asked, lambda base: means.files(base or usual, command.place), now=means.wall(), out=out, err=err
                )
        case WatchDesk() as deed:
            with means.visit(command.place) as clerk:
                return watch(deed, clerk, out)
        case deed:
            with tidily(), means.visit(command.place) as clerk:
                return _do(deed, clerk, out, err)


def _do(deed: SubmitAtDesk | ShowStatus | Chosen | AskEditor, clerk: Clerk, out: TextIO, err: TextIO) -> int:
    match deed:
        case SubmitAtDesk():
            return submit(deed, clerk, out, err)
        case ShowStatus():
            return show_status(deed, clerk, out, err)
        case Chosen():
            return _order(deed, clerk, out, err)
        case AskEditor():
            return _editor(deed, clerk, out)


def _order(deed: Chosen, clerk: Clerk, out: TextIO, err: TextIO) -> int:
    seconds = None if deed.older_than_days is None else deed.older_than_days * 86_400
    which = Selection(ids=deed.ids, all=deed.all, match=deed.match, older_than=seconds)
    try:
        handled = clerk.order(deed.what, which)  # type: ignore[arg-type]
    except EndedBySignal:
        streams.say("troupe: what the server was told goes on\n", err)
        raise
    if deed.json:
        streams.show(msgspec.json.encode(handled).decode() + "\n", out)
    else:
        streams.show(f"{counted(len(handled.ids), 'request')} {_DONE[deed.what]}\n", out)
        streams.say(_refusals(handled), err)
    return WENT_WRONG if handled.refused else 0


def _editor(deed: AskEditor, clerk: Clerk, out: TextIO) -> int:
    said = clerk.totals().editor or NO_EDITOR if deed.order is None else clerk.editor(deed.order)
    text = msgspec.json.encode(EditorAnswer(editor=said)).decode() if deed.json else printable(said)
    streams.show(f"{text}\n", out)
    return 0


def _refusals(handled: Handled) -> str:
    lines = [f"troupe: {printable(each)}: {printable(why)}" for each, why in list(handled.refused.items())[:SHOWN]]
    if (more := len(handled.refused) - SHOWN) > 0:
        lines.append(f"troupe: and {counted(more, 'request')} more")
    return "".join(f"{line}\n" for line in lines)
