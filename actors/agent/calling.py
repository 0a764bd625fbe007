"""Calls of tools in a turn: each is checked, executed within its limits, and told, whatever the model has sent.

A call that cannot work (no such tool, wrong arguments, a file that is refused) fails, and the model is told why in a
sentence that it can act on; the turn goes on. What a turn's tools may tell in all is limited, and so is how often the
same call may be repeated.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import trio

from actors.agent.given import FileRefused, Tree
from actors.agent.saying import Voice, encodable
from actors.agent.tools import LONGEST_RESULT, TOOLS, BadCall, Told, UpdatePlan, checked
from codec.agent.events import PlanPresented, ToolExecute
from codec.agent.models import ToolCall
from codec.agent.withheld import all_withheld, withheld
from codec.words import listed

LONGEST_ARGUMENTS = 20_000
"""Characters, as JSON."""
LONGEST_NAME = 100
SHOWN_OF_ARGUMENTS = 500


@dataclass(frozen=True, slots=True)
class CallLimits:
    seconds: float = 30.0
    """For one call."""
    characters: int = 400_000
    """That all tools of a turn tell."""
    same: int = 3
    """How often in a row the same call may come."""


class Calls:
    """The calls of one turn."""

    def __init__(self, turn_id: str, tree: Tree, voice: Voice, limits: CallLimits) -> None:
        self._turn_id = turn_id
        self._tree = tree
        self._voice = voice
        self._limits = limits
        self._count = 0
        self._told = 0
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

    def taken(self, call: ToolCall) -> ToolCall:
        """The call with an id of our own (some models use one twice) and arguments that can be kept."""
        self._count += 1
        id, arguments = f"{self._turn_id}.{self._count}", call.arguments  # noqa: A001 - as in ToolCall
        shown = _encoded(arguments)
        if len(shown) > LONGEST_ARGUMENTS:
            self._too_long.add(id)
            arguments = shown[:SHOWN_OF_ARGUMENTS]
        return ToolCall(id=id, name=encodable(call.name)[:LONGEST_NAME] or "unnamed", arguments=arguments)

    async def execute(self, call: ToolCall, until: float) -> str:
        """What the model is told. Clients are told of the call's begin and its end."""
        await self._say(call, "started", None)
        try:
            told = await self._used(call, until)
        except (BadCall, FileRefused) as error:
            text = f"{call.name} failed: {encodable(str(error))[:2000]}"
            await self._say(call, "failed", {"text": text})
            return text
        if call.name in TOOLS:
            self._voice.tools_used.setdefault(call.name)
        text = _bounded(withheld(encodable(told.text)), max(0, self._limits.characters - self._told))
        self._told += len(text)
        await self._say(call, "completed", {"text": text, **told.more})
        return text

    async def _used(self, call: ToolCall, until: float) -> Told:
        self._count_repetition(call)
        tool = TOOLS.get(call.name)
        if tool is None:
            raise BadCall(f"there is no tool of this name. There are {listed(TOOLS)}.")
        if call.id in self._too_long:
            raise BadCall(f"the arguments are longer than {LONGEST_ARGUMENTS:,} characters")
        if self.exhausted is not None:
            raise BadCall(f"{self.exhausted}. Answer with what you know.")
        if self._repeated > self._limits.same:
            raise BadCall(f"this same call came {self._repeated} times in a row. Do something else, or answer now.")
        arguments = checked(tool, call.arguments)
        seconds = min(self._limits.seconds, until - trio.current_time())
        with trio.move_on_after(max(0.0, seconds)) as scope:
            told = await tool.use(self._tree, arguments)
        if scope.cancelled_caught:
            raise BadCall(f"it took more than {max(0.0, seconds):.0f} seconds and was given up. Ask for less.")
        if isinstance(arguments, UpdatePlan):
            plan = PlanPresented(
                steps=arguments.as_steps, rationale=arguments.rationale, current_step=arguments.current_step
            )
            await self._voice.event(plan)
        return told

    def _count_repetition(self, call: ToolCall) -> None:
        this = (call.name, msgspec.json.encode(call.arguments, order="deterministic"))
        self._repeated = self._repeated + 1 if this == self._last else 1
        self._last = this

    async def _say(self, call: ToolCall, status: Any, result: Any) -> None:
        args = all_withheld(call.arguments)
        await self._voice.event(
            ToolExecute(tool_name=call.name, args=args, status=status, call_id=call.id, result=result)
        )


def _encoded(arguments: Any) -> str:
    """As JSON; what can be none is as good as too long."""
    try:
        return msgspec.json.encode(arguments).decode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError, OverflowError):
        return encodable(repr(arguments)[:SHOWN_OF_ARGUMENTS]).ljust(LONGEST_ARGUMENTS + 1)


def _bounded(text: str, most: int) -> str:
    most = min(most, LONGEST_RESULT + 2_000)
    return text if len(text) <= most else f"{text[:most]}\n[The rest is cut off.]"
