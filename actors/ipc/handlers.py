"""What a request may command: handlers by name, and how one is run.

A handler is an async function of its parameters and a context. It returns what JSON can say, or raises. If its
parameters have a type, they are checked before it runs, and it gets a value of that type.

    raises CommandFailed          an error with that sentence
    raises anything else          an error with its type and text
    returns what is no JSON       an error that says so
    is not over in time           cancelled, and an error that says so

Rules
  - Whatever a handler does ends as an outcome: it never ends the actor that runs it. Only a cancellation from outside
    goes through. A handler that swallows its cancellation is left behind (apart.py); one that blocks holds up all.
  - What is wrong with a request itself (a name that is none, parameters that do not fit) would be wrong again, so it is
    not to be tried again.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, cast

import msgspec
import trio
from msgspec import Struct

from actors.kernel import describe
from codec.decoding import fault
from codec.ipc import Failure, Outcome, Request, Success
from codec.words import lasting

LARGEST_ANSWER = 4 << 20
"""Bytes of what a handler returns."""
LONGEST_MESSAGE = 2_000
_NOT_JSON = (TypeError, ValueError, RecursionError, OverflowError, msgspec.MsgspecError)


class CommandFailed(Exception):
    """Raised by a handler, with a sentence for users."""

    def __init__(self, sentence: str, *, permanent: bool = False) -> None:
        super().__init__(sentence)
        self.permanent = permanent
        """It would fail again."""


class Remembering(Protocol):
    """What outlives a restart."""

    async def recall(self, name: str) -> str | None: ...

    async def remember(self, name: str, value: str) -> None: ...


class CommandContext(Struct, frozen=True):
    request: Request
    start: int
    """How often this request has been begun, from 1. A run before may have been cut off at any point."""
    handlers: "Handlers"
    memory: Remembering
    wall: Callable[[], float]
    """Seconds since 1970."""


class Handler(Protocol):
    async def __call__(self, params: Any, context: CommandContext, /) -> Any: ...


class KnownCommand(Struct, frozen=True):
    name: str
    handler: Handler
    params: Any = None
    """The type that the parameters are converted to, as msgspec does; None: they are passed as they came."""
    about: str = ""
    """A sentence for users."""


def given_command(name: str, value: object) -> KnownCommand:
    """A command that another package adds: an async function of parameters and context, or a KnownCommand. The function
    may have the attribute `params`, the type of its parameters; its docstring says what it is for. Raises ValueError,
    with a sentence."""
    if isinstance(value, KnownCommand):
        return value
    call = value if inspect.isfunction(value) else getattr(type(value), "__call__", None)  # noqa: B004 - the function, not whether
    if isinstance(value, type) or not inspect.iscoroutinefunction(call):
        kind = type(value).__name__
        raise ValueError(
            f"the command {name} is no handler: expected an async function of params and context, got {kind}"
        )
    about = (inspect.getdoc(value) or "").strip().partition("\n")[0]
    return KnownCommand(name, cast("Handler", value), getattr(value, "params", None), about)


class Handlers:
    def __init__(self, commands: Iterable[KnownCommand] = ()) -> None:
        self._commands: dict[str, KnownCommand] = {}
        for command in commands:
            self.add(command)

    def add(self, command: KnownCommand) -> None:
        """Raises ValueError, with a sentence, if the name is taken."""
        if command.name in self._commands:
            raise ValueError(f"there are two handlers of the command {command.name}; expected one")
        self._commands[command.name] = command

    def __iter__(self) -> Iterator[KnownCommand]:
        return iter(sorted(self._commands.values(), key=lambda command: command.name))

    def get(self, name: str) -> KnownCommand | None:
        return self._commands.get(name)

    async def run(self, context: CommandContext, seconds: float) -> Outcome:
        request = context.request
        command = self._commands.get(request.command)
        if command is None:
            names = ", ".join(known.name for known in self)
            return Failure(f"there is no command {request.command[:100]!r}; expected one of {names}", permanent=True)
        params: Any = request.params
        if command.params is not None:
            try:
                params = msgspec.convert(request.params, command.params)
            except msgspec.ValidationError as wrong:
                return Failure(f"the params of {command.name} are not right: {fault(wrong)}", permanent=True)
        return await _run(command, params, context, seconds)


async def _run(command: KnownCommand, params: Any, context: CommandContext, seconds: float) -> Outcome:
    with trio.move_on_after(seconds):
        try:
            return _success(command.name, await command.handler(params, context))
        except CommandFailed as failed:
            return Failure(_shortened(str(failed)), permanent=failed.permanent)
        except BaseException as error:
            cancelled = _cancelled(error)
            if cancelled is None:
                return Failure(_shortened(f"{command.name} failed: {describe(error)}"))
            raise cancelled from None  # what it raised besides, on its way out, is nobody's any more
    return Failure(f"{command.name} was not over after {lasting(seconds)}")


def _cancelled(error: BaseException) -> BaseException | None:
    """The part of it that is a cancellation."""
    if isinstance(error, trio.Cancelled):
        return error
    return error.split(trio.Cancelled)[0] if isinstance(error, BaseExceptionGroup) else None


def _success(name: str, data: object) -> Outcome:
    try:
        encoded = msgspec.json.encode(data)
        if len(encoded) <= LARGEST_ANSWER:
            return Success(msgspec.json.decode(encoded))
    except _NOT_JSON as wrong:
        return Failure(_shortened(f"{name} returned what JSON cannot say: {describe(wrong)}"), permanent=True)
    return Failure(
        f"{name} returned {len(encoded):,} bytes of JSON; expected at most {LARGEST_ANSWER:,}", permanent=True
    )


def _shortened(text: str) -> str:
    whole = text.encode(errors="replace").decode()
    return whole if len(whole) <= LONGEST_MESSAGE else f"{whole[:LONGEST_MESSAGE]}…"
