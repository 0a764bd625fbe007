"""`troupe ipc submit`: puts requests into the folder of the desk; with --wait, it shows how they end.

A submitted request is on the disk and goes on, whatever becomes of this command. The same call again submits nothing
twice, if its requests have ids of their own (--id, or a file): it waits for the requests that are there already. If
other requests have some of a file's ids, these are named, and all the others are submitted, however many there are.
"""

import time
from typing import TextIO

import msgspec

from codec.ipc import BadId, Request, checked
from codec.printable import printable, printable_json
from codec.words import counted
from program import instructions, streams
from program.clerk import Clerk, Ending
from program.ending import EndedBySignal
from program.ipc_arguments import SubmitAtDesk
from program.progress import Progress, line, summary
from program.status import INTERVAL, Status
from program.trouble import WENT_WRONG, Trouble

SUBMIT_PROMPT = "submitPrompt"
AT_ONCE = 500
PATIENCE = 10.0
"""Seconds for which nobody may be at the desk."""


def submit(deed: SubmitAtDesk, clerk: Clerk, out: TextIO, err: TextIO) -> int:
    requests = _of_file(deed, clerk) if deed.file is not None else [_single(deed, clerk)]
    status = Status(err)
    taken: dict[str, str] = {}
    try:
        for start in range(0, len(requests), AT_ONCE):
            taken.update(clerk.submit(requests[start : start + AT_ONCE]))
            status.show(f"{min(start + AT_ONCE, len(requests)):,} of {len(requests):,} submitted")
        if deed.file is None and taken:
            raise Trouble(next(iter(taken.values())))
        for name, why in taken.items():
            _refuse(deed, name, why, status, out)
        ids = [each.id for each in requests if each.id not in taken]
        if deed.wait and ids:
            return max(_wait(deed, ids, clerk, status, out, alone=len(requests) == 1), WENT_WRONG if taken else 0)
    finally:  # whatever is said next has a line of its own
        status.clear()
    for each in ids:
        streams.show(msgspec.json.encode({"id": each}).decode() + "\n" if deed.json else f"{each}\n", out)
    if ids and (missing := clerk.who_is_missing()) is not None:
        streams.say(f"troupe: {printable(missing)}\n", err)
    return WENT_WRONG if taken else 0


def _refuse(deed: SubmitAtDesk, name: str, why: str, status: Status, out: TextIO) -> None:
    if deed.json:
        fields = {"id": name, **({"ok": False, "attempts": 0} if deed.wait else {}), "error": why}
        status.clear()
        streams.show(msgspec.json.encode(fields).decode() + "\n", out)
    else:
        status.say(f"{name} was not submitted: {why}")


def _single(deed: SubmitAtDesk, clerk: Clerk) -> Request:
    wishes = {"submitter": deed.submitter, "priority": deed.priority, "reference": deed.reference}
    return clerk.made(deed.command or "", deed.params, deed.id, wishes)


def _of_file(deed: SubmitAtDesk, clerk: Clerk) -> list[Request]:
    assert deed.file is not None
    run = deed.run or deed.file.stem
    wishes = {"submitter": deed.submitter or run[:100], "priority": deed.priority}
    made = []
    for each in instructions.read(deed.file):
        try:
            name = checked(f"{run}-{each.id}")
        except BadId as wrong:
            raise Trouble(
                f"{deed.file}: {wrong}. A request is called as the run and the instruction; see --run"
            ) from None
        made.append(clerk.made(SUBMIT_PROMPT, each.params, name, wishes))
    return made


def _wait(deed: SubmitAtDesk, ids: list[str], clerk: Clerk, status: Status, out: TextIO, *, alone: bool) -> int:
    began = time.monotonic()
    shown = began - INTERVAL
    succeeded = failed = 0
    late = None if deed.timeout is None else began + deed.timeout
    status.show(line(Progress(len(ids), 0, 0), status.width))
    try:
        for ending in clerk.endings(ids, PATIENCE, late):
            succeeded, failed = succeeded + ending.ok, failed + (not ending.ok)
            status.clear()
            streams.show(_told(ending, json=deed.json, alone=alone), out)
            if not ending.ok and not deed.json:
                status.say(f"{ending.id} failed{_tries(ending)}: {ending.error}")
            now = time.monotonic()
            if now >= shown + INTERVAL and succeeded + failed < len(ids):
                status.show(line(Progress(len(ids), succeeded, failed, now - began, succeeded + failed), status.width))
                shown = now
    except EndedBySignal:
        status.say(f"{counted(len(ids) - succeeded - failed, 'request')} not over; what is left goes on")
        raise
    left = len(ids) - succeeded - failed
    if left:
        status.say(f"{counted(left, 'request')} not over after {deed.timeout:g} s; what is left goes on")
    if not alone:
        status.say(summary(Progress(len(ids), succeeded, failed)))
    return WENT_WRONG if failed or left else 0


def _told(ending: Ending, *, json: bool, alone: bool) -> str:
    if json:
        fields = {"id": ending.id, "ok": ending.ok, "attempts": len(ending.attempts)}
        fields |= {"data": ending.data} if ending.ok else {"error": ending.error}
        return msgspec.json.encode(fields).decode() + "\n"
    if not ending.ok:
        return ""
    if alone:
        return printable_json(msgspec.json.format(msgspec.json.encode(ending.data)).decode()) + "\n"
    return f"{ending.id}  {printable(_short(ending.data))}\n"


def _short(data: object) -> str:
    content = data.get("content") if isinstance(data, dict) else data
    text = content if isinstance(content, str) else msgspec.json.encode(data).decode()
    first, _, more = text.strip().partition("\n")
    return f"{first[:100]}…" if more or len(first) > 100 else first


def _tries(ending: Ending) -> str:
    return f" after {counted(len(ending.attempts), 'attempt')}" if len(ending.attempts) > 1 else ""
