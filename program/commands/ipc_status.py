"""`troupe ipc status` and `troupe ipc watch`: how the requests at the desk are getting on.

The names of the files tell how many there are, how many have an answer, and how many failed. A running server tells
more: which state each is in, all attempts, and what troubles the desk.
"""

import shutil
import sys
import time
from datetime import datetime
from typing import TextIO

import msgspec

from codec.ipc import BadId, Failure, Success, checked
from codec.ipc.desk import STATES, Attempt, DeskTotals, RequestDetail
from codec.printable import printable
from codec.words import counted
from program import streams
from program.clerk import Clerk, ServerAway
from program.ending import EndedBySignal, tidily
from program.ipc_arguments import ShowStatus, WatchDesk
from program.progress import Progress, line, summary
from program.terminal import is_terminal
from program.trouble import WENT_WRONG, Trouble

EVERY = 0.5
"""Seconds between two looks."""
MOST_AWAY = 10.0
"""Seconds for which a server that was there may be away, before who waits for the end of all requests is told."""
_OVER = ("success", "gave up", "cancelled")
_UP_AND_CLEAR, _HIDE, _SHOW = "\x1b[{}A\x1b[J", "\x1b[?25l", "\x1b[?25h"


def show_status(deed: ShowStatus, clerk: Clerk, out: TextIO, err: TextIO) -> int:
    """Exit code 1 if anything has failed."""
    if deed.id is not None:
        return _one(deed.id, deed.json, clerk, out)
    totals, progress, why = _look(clerk)
    if deed.json:
        fields = {"base": str(clerk.base), "requests": progress.total, "answered": progress.succeeded}
        fields |= {"failed": progress.failed, "server": totals}
        streams.show(msgspec.json.encode(fields).decode() + "\n", out)
    else:
        facts = [] if totals is None else _told_of_all(totals, why)
        streams.show("\n".join([f"{clerk.base}: {summary(progress)}", *facts]) + "\n", out)
        if why:
            streams.say(f"troupe: {_by_names(why, progress, clerk)}\n", err)
    return WENT_WRONG if progress.failed else 0


def watch(deed: WatchDesk, clerk: Clerk, out: TextIO | None = None) -> int:
    """Until Ctrl-C, which changes nothing."""
    out = out or sys.stdout
    live = is_terminal(out)
    began, first, before, drawn = time.monotonic(), None, "", 0
    there = None if clerk.names_tell() else began  # when the server was last there, or might have been
    try:
        with tidily():
            streams.show(_HIDE if live else "", out)
            while True:
                totals, progress, why = _look(clerk)
                there = there if totals is None else time.monotonic()
                first = progress.over if first is None else first
                since = max(0, progress.over - first)
                seen = Progress(progress.total, progress.succeeded, progress.failed, time.monotonic() - began, since)
                width = shutil.get_terminal_size().columns - 1
                facts = [_by_names(why, progress, clerk)] if totals is None else _told_of_all(totals, why)
                picture = [line(seen, width), *(_cut(each, width) for each in facts if live)]
                text = "\n".join(picture) + "\n"
                if live:
                    streams.show((_UP_AND_CLEAR.format(drawn) if drawn else "") + text, out)
                    drawn = len(picture)
                elif summary(progress) != before:
                    streams.show(f"{summary(progress)}\n", out)
                    before = summary(progress)
                if deed.until_done and _all_are_over(totals, progress, there):
                    return WENT_WRONG if progress.failed else 0
                time.sleep(EVERY)
                streams.expect_reader(out)
    except EndedBySignal:
        return 0
    finally:
        streams.say(_SHOW if live else "", out)


# -- all of them


def _all_are_over(totals: DeskTotals | None, progress: Progress, there: float | None) -> bool:
    """`there`: when the server was last there, if it was while we looked, or if the names of the files do not tell: in
    the HEAD dialect a request between two attempts has no file. Raises Trouble if it stays away."""
    if totals is not None or there is None:
        return progress.over >= progress.total
    if time.monotonic() - there <= MOST_AWAY:
        return False
    raise Trouble(
        "The server is not there, and only it knows which requests are over. They are kept; start it, and they go on",
        code=WENT_WRONG,
    )


def _look(clerk: Clerk) -> tuple[DeskTotals | None, Progress, str]:
    """What the server says, if there is one; how far the requests have got; and a sentence that says why the names of
    the files tell that. Empty: the server does."""
    try:
        totals = clerk.totals()
    except ServerAway as away:
        if not (clerk.base / "requests").is_dir():
            raise Trouble(
                f"{clerk.base} is no folder of requests; name the right one with --base", code=WENT_WRONG
            ) from None
        return None, Progress(*clerk.counts()), str(away).rstrip(".")
    by_state = totals.by_state
    if why := _why_not_all(totals):
        named = Progress(*clerk.counts())
        return totals, named, why if named.total or by_state else ""
    succeeded, failed = by_state.get("success", 0), by_state.get("gave up", 0)
    cancelled = by_state.get("cancelled", 0)
    return totals, Progress(sum(by_state.values()) - cancelled, succeeded, failed), ""


def _why_not_all(totals: DeskTotals) -> str:
    """Why this server does not know of all requests: another one sees to them, or nobody does, or it has just begun."""
    if totals.down:
        return "The server there may not know of all requests now"
    if totals.filling:
        return "The server there has just begun, and is still reading its journal"
    return "" if totals.by_state else "The server there has seen to no request yet"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _by_names(why: str, progress: Progress, clerk: Clerk) -> str:
    unsure = "; only a running server knows whether what has failed is tried again"
    are_copies = progress.failed and not clerk.names_tell()
    return f"{printable(why)}. This is from the names of the files{unsure if are_copies else ''}"


def _told_of_all(totals: DeskTotals, why: str) -> list[str]:
    """`why`: the server does not know how many stand where."""
    states = [f"{totals.by_state[state]:,} {state}" for state in STATES if totals.by_state.get(state)]
    lines = [", ".join(states)] if states and not why else []
    if totals.running:
        lines.append(f"{counted(totals.running, 'command')} running")
    if totals.lost:
        lines.append(f"{counted(totals.lost, 'command')} did not end in time, and may run still")
    if totals.quarantined:
        lines.append(f"{counted(totals.quarantined, 'file')} in quarantine/")
    if totals.withheld:
        first = f", such as {printable(totals.withheld_reasons[0])}" if totals.withheld_reasons else ""
        lines.append(f"{counted(totals.withheld, 'file')} cannot be read now{first}")
    return [*lines, *(printable(each) for each in (totals.trouble or totals.down, totals.peer, totals.editor) if each)]


# -- one of them


def _one(name: str, json: bool, clerk: Clerk, out: TextIO) -> int:
    try:
        checked(name)
    except BadId as wrong:
        raise Trouble(str(wrong)) from None
    try:
        detail = clerk.detail(name)
    except ServerAway:
        detail = None
    if detail is None:
        return _from_files(name, json, clerk, out)
    if json:
        streams.show(msgspec.json.encode(detail).decode() + "\n", out)
    else:
        streams.show("\n".join(_told(detail)) + "\n", out)
    return WENT_WRONG if detail.fact.state == "gave up" else 0


def _from_files(name: str, json: bool, clerk: Clerk, out: TextIO) -> int:
    seen = clerk.look(name)
    if seen.is_gone:
        raise Trouble(f"There is no request {name} in {clerk.base}", code=WENT_WRONG)
    match seen.outcome:
        case Success(data):
            state, said = "success", {"data": data}
        case Failure(message):
            state, said = "failed" if seen.is_copy else "gave up", {"error": message}
        case None if seen.is_cancelled:
            state, said = "cancelled", {}
        case None:
            state, said = "under way", {"error": seen.error.message} if seen.error else {}
    if json:
        streams.show(msgspec.json.encode({"id": name, "state": state, **said}).decode() + "\n", out)
    else:
        last = f": {printable(str(said['error']))}" if "error" in said else ""
        unsure = " (only a running server knows whether it is tried again)" if seen.is_copy else ""
        streams.show(f"{name}: {state}{last}{unsure}\n", out)
    return WENT_WRONG if isinstance(seen.outcome, Failure) else 0


def _told(detail: RequestDetail) -> list[str]:
    fact = detail.fact
    lasted = f" after {fact.seconds:.1f} s" if fact.seconds is not None else ""
    command = f"{printable(fact.command)}, " if fact.command else ""  # none, if the request cannot be read
    lines = [f"{fact.id}: {command}{fact.state}{lasted}"]
    lines += [f"  attempt {each.number}: {_attempt(each)}" for each in detail.tried]
    return [*lines, *(f"  {printable(note)}" for note in detail.notes)]


def _attempt(attempt: Attempt) -> str:
    at = datetime.fromtimestamp(attempt.began).astimezone().isoformat(" ", "seconds")
    match attempt.outcome:
        case Failure(message):
            how = printable(message)
        case Success():
            how = "answered"
        case None:
            how = "under way"
    lasted = f", {attempt.seconds:.1f} s" if attempt.seconds is not None else ""
    return f"{how}{lasted} (from {at})"
