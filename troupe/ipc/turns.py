"""In which order `map` submits, waits and gives, as a plan without any waiting of its own.

    SubmitThese   submit requests with these params       is answered with their ids
    WaitForOne    until one of them has ended             is answered with its result
    Give          the result of the next one, in order

Rules
  - At most `concurrency` are under way. As many more may have ended and wait for one before them; then no further is
    begun. So the memory is bounded, and what is to be done may be endless.
  - It is taken from only when there is room for it.
"""

from collections import Counter, deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from troupe.ipc.results import Result

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class SubmitThese:
    params: list[Any]


@dataclass(frozen=True, slots=True)
class WaitForOne:
    pass


@dataclass(frozen=True, slots=True)
class Give:
    result: Result


Turn = SubmitThese | WaitForOne | Give


def turns(many: Iterable[P], concurrency: int) -> Generator[Turn, Any, None]:
    if concurrency < 1:
        raise ValueError(f"concurrency is at least 1, not {concurrency}")
    source = iter(many)
    order: deque[str] = deque()
    left: Counter[str] = Counter()
    """How often each is still to be given: the same request may be asked for twice."""
    ended: dict[str, Result] = {}
    is_exhausted = False
    while True:
        room = min(concurrency - (len(left) - len(ended)), 2 * concurrency - len(order))
        new: list[P] = []
        while len(new) < room and not is_exhausted:
            try:
                new.append(next(source))
            except StopIteration:
                is_exhausted = True
        if new:
            ids = yield SubmitThese(new)
            order.extend(ids)
            left.update(ids)
        if not order:
            return
        if order[0] not in ended:
            result = yield WaitForOne()
            if result.id in left:  # or it was given already, as often as it was asked for
                ended[result.id] = result
            continue
        first = order.popleft()
        given = ended[first]
        left[first] -= 1
        if not left[first]:
            del left[first], ended[first]
        yield Give(given)
