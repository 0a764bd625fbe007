"""The plan of `map`, over any order in which requests may end."""

from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from troupe.ipc.results import Result
from troupe.ipc.turns import Give, SubmitThese, WaitForOne, turns


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 5), st.data())
def test_results_come_in_order_and_no_more_are_under_way_or_kept_than_was_said(
    many: list[int], concurrency: int, data: st.DataObject
) -> None:
    taken = 0

    def source() -> Iterator[int]:
        nonlocal taken
        for each in many:
            taken += 1
            yield each

    plan, under_way, ended = turns(source(), concurrency), set[str](), set[str]()
    given_: list[int] = []
    left: Counter[str] = Counter()
    answer: object = None
    while True:
        try:
            turn = plan.send(answer)
        except StopIteration:
            break
        match turn:
            case SubmitThese(params):
                answer = [str(each) for each in params]  # the same params are the same request
                left.update(answer)
                under_way |= set(answer) - ended
                assert len(under_way) <= concurrency
                assert taken - len(given_) <= 2 * concurrency
            case WaitForOne():
                name = data.draw(st.sampled_from(sorted(under_way)))
                under_way.remove(name)
                ended.add(name)
                answer = Result(name, ok=True, data=int(name))
            case Give(result):
                given_.append(result.data)
                answer = None
                left[result.id] -= 1
                if not left[result.id]:
                    ended.discard(result.id)
    assert given_ == many
