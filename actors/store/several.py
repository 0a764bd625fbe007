"""Several things done at once, where many take little more time than one: questions to the store, looks at files."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import trio

K = TypeVar("K")
T = TypeVar("T")

AT_ONCE = 200


async def all_of(items: Iterable[K], call: Callable[[K], Awaitable[T]], at_once: int = AT_ONCE) -> list[T]:
    """The results in the order of the items. Nothing is cut short: if some raise, the first error is raised as it is
    when those that are under way have ended, and no more are begun."""
    todo: Sequence[K] = list(items)
    if len(todo) == 1:
        return [await call(todo[0])]
    results: dict[int, T] = {}
    errors: list[Exception] = []

    async def one(place: int) -> None:
        try:
            results[place] = await call(todo[place])
        except Exception as error:
            errors.append(error)

    for start in range(0, len(todo), at_once):
        async with trio.open_nursery() as nursery:
            for place in range(start, min(start + at_once, len(todo))):
                nursery.start_soon(one, place)
        if errors:
            raise errors[0]
    return [results[place] for place in range(len(todo))]
