"""Requests of the agent, asked at a terminal: a change of a file, a command, a tool, and what to do about an editor
that does not say how its command went.

    asked --the reader's answer--> sent to the server, which tells it to all clients
    asked --somebody else has answered, or its time is up--> the question ends, and the terminal says why
    an editor's terminal reports nothing of a command --a while--> asked whether to do without it, until it reports

Rules
  - Everything that will happen is shown before the question, every character of it: a character that would move the
    cursor, or turn the writing, is shown as its code.
  - Requests are asked one by one, in their order. Words that were typed before a question are no answer to it.
  - Only a whole word answers. An empty line asks again.
"""

import math
import shlex
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

import trio
from msgspec import Struct

from actors.kernel import PeerGone
from codec.agent.action_events import (
    DELETES,
    ApprovalResolved,
    Asked,
    CommandFinished,
    CommandOutput,
    CommandStarted,
    CommandTakenBack,
    DiffHunk,
    PatchProposed,
    RequestApproval,
    RequestCommandApproval,
)
from codec.agent.callers import done_by
from codec.agent.client_messages import ApprovalResponse, TakeBackCommand
from codec.agent.events import ServerMessage
from codec.printable import printable
from program.status import Status

GREEN, RED, BLUE, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[0m"
COLOURS = {"+": GREEN, "-": RED, "@": BLUE}
VERBS = {"create": "make", "modify": "change", "delete": "delete"}
SILENCE = 10.0
"""Seconds in which an editor's terminal tells nothing, until it is asked whether to do without it."""


class Typed(Protocol):
    def forget(self) -> None: ...
    async def line(self) -> str | None: ...


class Choice(Struct, frozen=True):
    key: str
    word: str
    says: str


YES = Choice("y", "yes", "yes")
NO = Choice("n", "no", "no")
HUNKS = Choice("h", "hunks", "each hunk by itself")
EXACTLY = Choice("e", "exactly", "always exactly this command, in this folder and session")
REASON = Choice("r", "reason", "no, and say why")
HERE = Choice("h", "here", "run it here")
WITHOUT = Choice("g", "go on", "go on without it")


class Silent(Struct, frozen=True):
    """An editor has this command for its terminal, and tells nothing of it."""

    command_id: str
    command: str
    until: float
    """Then it is asked whether to do without it."""


class Questions:
    """The requests that wait, and the one that is being asked."""

    def __init__(
        self,
        typed: Typed,
        status: Status,
        say: Callable[[ApprovalResponse | TakeBackCommand], Awaitable[None]],
        *,
        colours: bool,
    ) -> None:
        self._typed = typed
        self._status = status
        self._say = say
        self._colours = colours
        self._waiting: dict[str, Asked | Silent] = {}
        self._unsettled: dict[str, Asked] = {}
        """These, and those that are answered here, until the server says so."""
        self._silent: dict[str, Silent] = {}
        """Commands that an editor has for its terminal, until something is heard of them, or they are asked about."""
        self._came = trio.Event()
        self._asking: trio.CancelScope | None = None
        self._now = ""

    @property
    def is_open(self) -> bool:
        """Whether a question stands on the terminal's last line."""
        return self._asking is not None

    def hear(self, event: ServerMessage) -> None:
        """Whatever happens in the turn, before it is shown."""
        match event:
            case RequestCommandApproval(requires_approval=False):
                self._handed_over(event)
            case RequestApproval() | RequestCommandApproval() | PatchProposed(requires_approval=True):
                self._unsettled[event.request_id] = self._waiting[event.request_id] = event
                self._came.set()
            case ApprovalResolved(request_id=id, approved=approved):
                if self._end(id):
                    self._status.say(_settled(event))
                asked = self._unsettled.pop(id, None)
                if approved and isinstance(asked, RequestCommandApproval):
                    self._handed_over(asked)
            case CommandStarted() | CommandOutput() | CommandFinished() | CommandTakenBack():
                self._silent.pop(event.command_id, None)
                self._end(event.command_id)

    def _handed_over(self, asked: RequestCommandApproval) -> None:
        """From now on an editor may run it, if it is for a terminal."""
        if asked.execution_mode == "local_terminal":
            self._silent[asked.command_id] = Silent(asked.command_id, asked.command, trio.current_time() + SILENCE)
            self._came.set()

    def _end(self, id: str) -> bool:  # noqa: A002
        """The question is no more, whether or not it was asked yet. Returns whether there was one."""
        if self._waiting.pop(id, None) is None:
            return False
        if self._now == id and self._asking is not None:
            self._asking.cancel()
            self._status.pass_on("\n")
        return True

    async def run(self) -> None:
        """Asks whatever comes, until it is cancelled."""
        try:
            while True:
                with trio.move_on_at(min((each.until for each in self._silent.values()), default=math.inf)):
                    await self._came.wait()
                self._came = trio.Event()
                self._look_for_silence()
                for request_id in list(self._waiting):
                    await self._ask(request_id)
        except PeerGone:
            return  # whoever hears the stream says so

    def _look_for_silence(self) -> None:
        now = trio.current_time()
        for each in [each for each in self._silent.values() if each.until <= now]:
            self._waiting[each.command_id] = self._silent.pop(each.command_id)

    async def _ask(self, request_id: str) -> None:
        asked = self._waiting.get(request_id)
        if asked is None:
            return
        self._status.clear()
        self._status.pass_on(shown(asked, colours=self._colours))
        response: ApprovalResponse | TakeBackCommand | None = None
        self._now = request_id
        with trio.CancelScope() as self._asking:
            try:
                self._typed.forget()
                response = await (self._instead(asked) if isinstance(asked, Silent) else self._answer(asked))
            finally:
                self._asking = None
        if self._waiting.pop(request_id, None) is not None and response is not None:
            await self._say(response)

    async def _instead(self, silent: Silent) -> TakeBackCommand | None:
        """None: it is waited for."""
        choice = await self._choice("If it is not running there:", (HERE, WITHOUT))
        return None if choice is None else TakeBackCommand(command_id=silent.command_id, run_here=choice is HERE)

    async def _answer(self, asked: Asked) -> ApprovalResponse:
        while True:
            match await self._choice(f"{_verb(asked)}?", choices_of(asked)):
                case None:
                    return _no(asked, "the terminal was closed")
                case Choice("e"):
                    return _yes(asked, remember="session", exactly=True)
                case Choice("y"):
                    return _yes(asked)
                case Choice("a"):
                    return _yes(asked, remember="session")
                case Choice("n"):
                    return _no(asked, None)
                case Choice("r"):
                    return _no(asked, await self._line("Why not? The agent hears it: ", whole=True))
                case Choice("h") if isinstance(asked, PatchProposed):
                    return await self._by_hunk(asked)

    async def _choice(self, question: str, choices: Sequence[Choice]) -> Choice | None:
        """None: nobody types any more."""
        while True:
            answer = await self._line(f"{question} {', '.join(f'[{each.key}] {each.says}' for each in choices)}: ")
            if answer is None:
                self._status.pass_on("\n")
                return None
            for choice in choices:
                if answer in (choice.key, choice.word):
                    return choice

    async def _by_hunk(self, asked: PatchProposed) -> ApprovalResponse:
        taken: list[int] = []
        for at, hunk in enumerate(asked.hunks):
            self._status.pass_on(_lines(_whole(hunk), colours=self._colours))
            answer: str | None = ""
            while answer not in ("y", "yes", "n", "no", None):
                answer = await self._line(f"Take hunk {at + 1} of {len(asked.hunks)}? [y] yes, [n] no: ")
            if answer in ("y", "yes"):
                taken.append(at)
        if not taken:
            return _no(asked, "none of its hunks was taken")
        return _yes(asked, taken)

    async def _line(self, question: str, *, whole: bool = False) -> str | None:
        self._status.pass_on(question)
        line = await self._typed.line()
        return line if line is None else line.strip() if whole else line.strip().lower()


def choices_of(asked: Asked) -> tuple[Choice, ...]:
    match asked:
        case PatchProposed(hunks=hunks):
            by_hunk = (HUNKS,) if len(hunks) > 1 else ()
            return (YES, NO, _always("for this file"), *by_hunk, REASON)
        case RequestCommandApproval(may_remember=words):
            always = (_always(f"for what begins with {printable(shlex.join(words))}"),) if words else ()
            exactly = (EXACTLY,) if asked.may_remember_exactly else ()
            return (YES, NO, *always, *exactly, REASON)
        case RequestApproval(tool_name=name):
            what = "for the deletion of any file" if name == DELETES else "for this tool"
            return (YES, NO, _always(what), REASON)


def _always(what: str) -> Choice:
    return Choice("a", "always", f"always {what} in this session")


def shown(asked: Asked | Silent, *, colours: bool) -> str:
    """All that is asked, as lines for a terminal."""
    return "".join(f"{line}\n" for line in _shown(asked, colours))


def _shown(asked: Asked | Silent, colours: bool) -> Iterator[str]:
    match asked:
        case Silent(command=command):
            yield "Nothing has come from your editor's terminal yet, which has this command:"
            yield from _command(command)
            return
        case PatchProposed():
            yield f"The agent asks to {VERBS[asked.action]} {printable(asked.file_path)}"
            yield from (f"  {printable(line)}" for line in asked.rationale.splitlines())
            yield from (f"  - {printable(each)}" for each in asked.acceptance_criteria)
            yield _lines(asked.diff, colours=colours).rstrip("\n")
        case RequestCommandApproval():
            yield f"The agent asks to run a command{_risk(asked.risk_level)}"
            yield from _command(asked.command)
            folder = asked.working_directory
            yield f"  in {printable(folder) if folder not in ('', '.') else 'the folder of the workspace'}"
            if asked.environment:
                yield "  with " + " ".join(
                    f"{printable(name)}={printable(value)}" for name, value in asked.environment.items()
                )
            for each in asked.runs:
                yield f"  it runs ({printable(each.file)}, {printable(each.name)}): {printable(each.text)}"
            yield "  it can reach the network" if asked.network else "  it cannot reach the network"
        case RequestApproval():
            yield from _tool(asked)
    if asked.reason:
        yield f"  {printable(asked.reason)}"


def _command(command: str) -> Iterator[str]:
    yield from (f"    {printable(line)}" for line in command.split("\n"))  # a break is no backslash


def _tool(asked: RequestApproval) -> Iterator[str]:
    path, args = asked.deleted, asked.args
    what = f"use {asked.tool_name}" if path is None else f"delete {path}"
    yield f"The agent asks to {printable(what)}{_risk(asked.risk_level)}"
    if path is not None:
        yield from (f"  {printable(line)}" for line in str(args.get("reason", "")).splitlines())
        args = {name: value for name, value in args.items() if name not in ("file_path", "reason")}
    yield from (f"    {line}" for line in _arguments(args))


def _arguments(args: Any) -> Iterator[str]:
    if isinstance(args, dict):
        yield from (f"{printable(str(name))}: {printable(str(value))}" for name, value in args.items())
    else:
        yield printable(str(args))


def _risk(level: str) -> str:
    return f" ({level} risk)" if level != "medium" else ""


def _lines(diff: str, *, colours: bool) -> str:
    lines = [line for line in diff.split("\n") if line]
    pairs = zip(lines, (*lines, "")[1:], strict=True)
    ended = {at for at, (line, after) in enumerate(pairs) if _is_text(line) and not after.startswith("\\")}
    if all(lines[at].endswith("\r") for at in ended):  # as on Windows; what ends a last line without a newline is shown
        lines = [line.removesuffix("\r") if at in ended else line for at, line in enumerate(lines)]
    return "".join(f"{_line(line, colours)}\n" for line in lines)


def _is_text(line: str) -> bool:
    return line[0] in "+- " and line[:3] not in ("+++", "---")


def _line(line: str, colours: bool) -> str:
    colour = COLOURS.get(line[:1]) if colours else None
    text = printable(line.expandtabs(4))
    return f"{colour}{text}{PLAIN}" if colour else text


def _whole(hunk: DiffHunk) -> str:
    """With its head, which its content may have or not."""
    if hunk.content.startswith("@@ "):
        return hunk.content
    ranges = f"-{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines}"
    return f"@@ {ranges} @@\n{hunk.content}"


def _verb(asked: Asked) -> str:
    match asked:
        case PatchProposed(action=action):
            return VERBS[action].capitalize() + " it"
        case RequestCommandApproval():
            return "Run it"
        case RequestApproval():
            return "Allow it" if asked.deleted is None else "Delete it"


def _yes(
    asked: Asked,
    taken: Sequence[int] | None = None,
    *,
    remember: Literal["once", "session"] = "once",
    exactly: bool = False,
) -> ApprovalResponse:
    """To this request alone: the scope `all` means every change that waits. A change that has no hunks can only be
    named by its file. `taken`: these hunks; None: all."""
    if not isinstance(asked, PatchProposed):
        return ApprovalResponse(request_id=asked.request_id, approved=True, remember=remember, exactly=exactly)
    return ApprovalResponse(
        request_id=asked.request_id,
        approved=True,
        scope="hunk" if asked.hunks else "file",
        file_path=asked.file_path,
        hunks=tuple(range(len(asked.hunks)) if taken is None else taken) or None,
        remember=remember,
    )


def _no(asked: Asked, reason: str | None) -> ApprovalResponse:
    return ApprovalResponse(
        request_id=asked.request_id,
        approved=False,
        scope="hunk" if isinstance(asked, PatchProposed) else "all",
        reason=reason or None,
    )


def _settled(resolved: ApprovalResolved) -> str:
    match resolved.ended:
        case "timed_out":
            return "Nobody answered in time, so it is not done"
        case "cancelled":
            return "It is not asked any more: the turn was stopped"
        case _:
            why = f": {resolved.reason}" if resolved.reason and not resolved.approved else ""
            return f"{'Approved' if resolved.approved else 'Rejected'}{done_by(resolved.by)}{why}"
