"""What all actors of the agent do with the store in the same way: they read a whole space, and say in words why
something was not stored."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from actors.kernel import KernelError, Reply
from actors.store import Refused, StoreClient, StoreError, StoreFull
from codec.agent.refusing import ContractRefusal


async def every_pair(store: StoreClient, space: str) -> AsyncIterator[tuple[str, bytes]]:
    """All pairs of a space, page by page."""
    after = ""
    while page := await store.keys(space, after=after):
        for pair in page:
            yield pair
        after = page[-1][0]


def not_stored(what: str, error: StoreError) -> ContractRefusal:
    """`what`: such as "The policy"."""
    if isinstance(error, Refused):
        return ContractRefusal(422, "INVALID_MESSAGE", f"{what} is too large to be stored.")
    if isinstance(error, StoreFull):
        return ContractRefusal(507, "INTERNAL", f"{what} was not stored: the disk is full. Make room and try again.")
    return ContractRefusal(503, "INTERNAL", f"{what} was not stored: {error}.")


def not_read(what: str, error: StoreError) -> ContractRefusal:
    return ContractRefusal(503, "INTERNAL", f"{what} cannot be read: {error}.")


@contextmanager
def trouble_told(
    reply: Reply[Any], what: str, words: Callable[[str, StoreError], ContractRefusal] = not_stored
) -> Iterator[None]:
    """Who asked is told what went wrong inside. An actor that did not answer in time may have stored it all the same:
    nobody knows, and whoever asks again is told what is."""
    try:
        yield
    except StoreError as error:
        fail(reply, words(what, error))
    except (KernelError, ContractRefusal) as error:
        fail(reply, error)


def fail(reply: Reply[Any], error: Exception) -> None:
    if not reply.abandoned:
        reply.fail(error)
