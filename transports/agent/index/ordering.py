"""An order that stands by itself: its caller gets the answer, or an error with a sentence."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from actors.kernel import KernelError, in_words
from codec.agent.index.telling import IndexTrouble
from transports.agent.index import orders

S = TypeVar("S", bound=orders.IndexAnswer)


class OrderTaker(Protocol):
    async def do(self, order: bytes, heard: Callable[[bytes], object] = ..., *, seconds: float = ...) -> bytes: ...


async def ordered(crew: OrderTaker, order: orders.IndexOrder, kind: type[S]) -> S:
    """Raises IndexTrouble."""
    try:
        answer = orders.answer_of(await crew.do(orders.encode(order)))
    except KernelError as error:
        raise IndexTrouble(f"The index cannot be worked on: {in_words(error)}.") from error
    if isinstance(answer, orders.IndexRefusal):
        raise IndexTrouble(answer.why)
    assert isinstance(answer, kind)
    return answer
