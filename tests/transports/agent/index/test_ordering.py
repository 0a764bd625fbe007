"""An order to the workers of an index has its answer, or a sentence says why not."""

from collections.abc import Callable

import pytest

from actors.kernel import KernelError
from codec.agent.index.telling import IndexTrouble
from transports.agent.index import orders
from transports.agent.index.ordering import ordered

ORDER = orders.PutAside(orders.IndexPlace("/a/index", "/a/workspace"), 1)


class Crew:
    def __init__(self, answer: orders.IndexAnswer | KernelError) -> None:
        self._answer = answer

    async def do(self, order: bytes, heard: Callable[[bytes], object] = lambda _: None, *, seconds: float = 1) -> bytes:
        assert orders.order_of(order) == ORDER
        if isinstance(self._answer, KernelError):
            raise self._answer
        return orders.encode(self._answer)


async def test_the_answer_is_the_worker_s() -> None:
    assert await ordered(Crew(orders.Written(changed=3)), ORDER, orders.Written) == orders.Written(changed=3)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (orders.IndexRefusal("The disk is full."), r"^The disk is full\.$"),
        (KernelError("too many orders wait"), r"^The index cannot be worked on: too many orders wait\.$"),
    ],
)
async def test_what_goes_wrong_is_told(answer: orders.IndexRefusal | KernelError, sentence: str) -> None:
    with pytest.raises(IndexTrouble, match=sentence):
        await ordered(Crew(answer), ORDER, orders.Written)
