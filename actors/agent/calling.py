"""Calls of tools in a turn: each is checked, executed within its limits, and reported, whatever the model has sent.

A call that cannot work (no such tool, wrong arguments, a file that is refused) fails, and the model is told why in a
sentence that it can act on. Then the turn goes on. All that a turn's tools may tell together is limited, and so is how
often the same call may be repeated.

A tool that acts gets whole files and diffs. These are executed as they came, but reported cut: the file itself, and the
diff that everybody is shown, say the rest.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import trio
from msgspec import Struct

from actors.agent.acting import Acting
from actors.agent.given import FileRefused, Tree
from actors.agent.hand_tools import HAND_TOOLS
from actors.agent.outcomes import CallOutcome, failed
from actors.agent.saying import Voice, encodable
from actors.agent.tools import LONGEST_RESULT, TOOLS, BadCall, Told, UpdatePlan, checked
from codec.agent.events import PlanPresented, ToolExecute, ToolStatus
from codec.agent.models import ToolCall
from codec.agent.withheld import all_withheld, withheld
from codec.words import lasting, listed

LONGEST_ARGUMENTS = 20_000
"""Characters, as JSON."""
LONGEST_WITH_HANDS = 2_500_000
"""The same, of a tool with hands."""
LONGEST_NAME = 100
SHOWN_OF_ARGUMENTS = 500
LONGEST_FAILURE = 6_000


class CallLimits(Struct, frozen=True):
    seconds: float = 30.0
    """For one call."""
    characters: int = 400_000
    """That all tools of a turn tell."""
    same: int = 3
    """How often in a row the same call may come."""


class Calls:
    """The calls of one turn."""

    def __init__(
        self,
        turn_id: str,
        tree: Tree,
        voice: Voice,
        limits: CallLimits,
        acting: Acting | None = None,
        *,
        before: int = 0,
    ) -> None:
        """`before`: the calls that the turn has made already, before the server ended."""
        self._turn_id = turn_id
        self._tree = tree
        self._voice = voice
        self._limits = limits
        self._acting = acting
        self._count = before
        self._told = 0
        self._whole: dict[str, Any] = {}
        """The arguments of calls that are told cut."""
        self._too_long: set[str] = set()
        """The calls whose arguments were not kept."""
        self._last: tuple[str, bytes] | None = None
        self._repeated = 0

    @property
    def exhausted(self) -> str | None:
        """Why the model is to be given no more tools, if so."""
        if self._told >= self._limits.characters:
            return "the tools have told as much as fits into one turn"
        if self._repeated >= 2 * self._limits.same:
            return "the same call was repeated again and again"
        return None

    @property
    def waited(self) -> float:
        """Seconds in which calls have waited for people."""
        return 0.0 if self._acting is None else self._acting.dealings.waited

    def taken(self, call: ToolCall) -> ToolCall:
        """The call with an id of our own (some models use one twice) and arguments that can be kept."""
        self._count += 1
        id, arguments = f"{self._turn_id}.{self._count}", call.arguments  # noqa: A001 - as in ToolCall
        shown = _encoded(arguments)
        if self._is_for_hands(call) and LONGEST_ARGUMENTS < len(shown) <= LONGEST_WITH_HANDS:
            self._whole[id] = arguments
            arguments = _cut(arguments)
            if len(_encoded(arguments)) > LONGEST_ARGUMENTS:
                arguments = shown[:SHOWN_OF_ARGUMENTS]
        elif len(shown) > LONGEST_ARGUMENTS:
            self._too_long.add(id)
            arguments = shown[:SHOWN_OF_ARGUMENTS]
        return ToolCall(id=id, name=encodable(call.name)[:LONGEST_NAME] or "unnamed", arguments=arguments)

    async def execute(self, call: ToolCall, until: float) -> str:
        """What the model is told. Clients are told of the call's begin and its end."""
        await self._voice.event(_executed(call, "started", None))
        try:
            if self._is_for_hands(call):
                return await self.tell(call, await self._acted(call))
            told = await self._used(call, until)
        except (BadCall, FileRefused) as error:
            return await self.tell(call, failed(str(error)))
        return await self.tell(call, CallOutcome(told))

    async def tell(self, call: ToolCall, done: CallOutcome) -> str:
        """What the model is told of the call's end, as clients are told it too."""
        if done.failed:
            text = withheld(encodable(f"{call.name} failed: {done.told.text}"))[:LONGEST_FAILURE]
        else:
            self._voice.tools_used.setdefault(call.name)
            text = _bounded(withheld(encodable(done.told.text)), max(0, self._limits.characters - self._told))
            self._told += len(text)
        event = _executed(call, "failed" if done.failed else "completed", {"text": text, **done.told.more})
        over = done.over if self._acting is None else self._acting.dealings.still_open(done.over)
        if self._acting is not None and (over or done.events or done.applied):
            await self._acting.dealings.keep([*done.events, event], over=over, applied=done.applied)
        else:
            await self._voice.event(event)
        return text

    async def _acted(self, call: ToolCall) -> CallOutcome:
        assert self._acting is not None
        self._check(call)
        arguments = checked(HAND_TOOLS[call.name], self._whole.pop(call.id, call.arguments))
        return await self._acting.call(call.id, call.name, arguments)

    def _is_for_hands(self, call: ToolCall) -> bool:
        return self._acting is not None and call.name in HAND_TOOLS

    def _check(self, call: ToolCall) -> None:
        """Raises BadCall if it is one too many."""
        self._count_repetition(call)
        if call.id in self._too_long:
            most = LONGEST_WITH_HANDS if self._is_for_hands(call) else LONGEST_ARGUMENTS
            raise BadCall(f"the arguments are longer than {most:,} characters")
        if self.exhausted is not None:
            raise BadCall(f"{self.exhausted}. Answer with what you know.")
        if self._repeated > self._limits.same:
            raise BadCall(f"this same call came {self._repeated} times in a row. Do something else, or answer now.")

    async def _used(self, call: ToolCall, until: float) -> Told:
        tool = TOOLS.get(call.name)
        if tool is None or tool.use is None:
            self._count_repetition(call)
            names = (*TOOLS, *HAND_TOOLS) if self._acting is not None else TOOLS
            raise BadCall(f"there is no tool of this name. There are {listed(names)}.")
        self._check(call)
        arguments = checked(tool, call.arguments)
        seconds = min(self._limits.seconds, until - trio.current_time())
        with trio.move_on_after(max(0.0, seconds)) as scope:
            told = await tool.use(self._tree, arguments)
        if scope.cancelled_caught:
            raise BadCall(f"it took more than {lasting(round(max(0.0, seconds)))} and was given up. Ask for less.")
        if isinstance(arguments, UpdatePlan):
            plan = PlanPresented(
                steps=arguments.as_steps, rationale=arguments.rationale, current_step=arguments.current_step
            )
            await self._voice.event(plan)
        return told

    def _count_repetition(self, call: ToolCall) -> None:
        this = (call.name, msgspec.json.encode(self._whole.get(call.id, call.arguments), order="deterministic"))
        self._repeated = self._repeated + 1 if this == self._last else 1
        self._last = this


def _executed(call: ToolCall, status: ToolStatus, result: Any) -> ToolExecute:
    args = all_withheld(call.arguments)
    return ToolExecute(tool_name=call.name, args=args, status=status, call_id=call.id, result=result)


def _cut(value: Any) -> Any:
    """The arguments with their long texts cut."""
    match value:
        case str() if len(value) > 2 * SHOWN_OF_ARGUMENTS:
            return f"{value[:SHOWN_OF_ARGUMENTS]}\n[... {len(value) - SHOWN_OF_ARGUMENTS:,} more characters ...]"
        case Mapping():
            return {key: _cut(item) for key, item in value.items()}
        case list() | tuple():
            return [_cut(item) for item in value]
    return value


def _encoded(arguments: Any) -> str:
    """As JSON; what can be none is as good as too long."""
    try:
        return msgspec.json.encode(arguments).decode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError, OverflowError):
        return encodable(repr(arguments)[:SHOWN_OF_ARGUMENTS]).ljust(LONGEST_ARGUMENTS + 1)


def _bounded(text: str, most: int) -> str:
    most = min(most, LONGEST_RESULT + 2_000)
    return text if len(text) <= most else f"{text[:most]}\n[The rest is cut off.]"
