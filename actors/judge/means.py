"""The means to run a solution: the current settings, and the interpreter that they lead to."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import trio

from actors.judge import ordering
from actors.judge.given import Machine
from actors.judge.messages.shelf import SettingsNow
from actors.judge.ordering import NotNow
from actors.judge.registered import SHELF
from actors.kernel import KernelError, Registry, in_words
from codec.judge import RunSettings

T = TypeVar("T")

PATIENCE = 5.0


async def settings_now(registry: Registry) -> RunSettings:
    return await registry.get(SHELF).ask(SettingsNow, timeout=PATIENCE)


async def means(registry: Registry, machine: Machine) -> tuple[RunSettings, Path] | NotNow:
    try:
        settings = await settings_now(registry)
        interpreter = await machine.resolve(ordering.command(settings))
    except KernelError as error:
        return NotNow(in_words(error))
    if isinstance(interpreter, str):
        return NotNow(ordering.missing(settings, interpreter))
    return settings, interpreter


async def with_means(
    look: Callable[[], Awaitable[T | NotNow]], registry: Registry, machine: Machine
) -> tuple[T, RunSettings, Path]:
    """Reads the folder and finds the means to run it at the same time. Raises NotNow if either is missing."""
    chosen: list[tuple[RunSettings, Path] | NotNow] = []

    async def choose() -> None:
        chosen.append(await means(registry, machine))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(choose)
        seen = await look()
        if isinstance(seen, NotNow):
            nursery.cancel_scope.cancel()
    if isinstance(seen, NotNow):
        raise seen
    if isinstance(chosen[0], NotNow):
        raise chosen[0]
    return seen, *chosen[0]
