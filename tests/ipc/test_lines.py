"""The ledger's lines: whatever is put and dropped, a window is that of a plain list, filtered and sorted."""

from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from actors.ipc.lines import BLOCK, OPEN, TURN, Lines, Search
from codec.ipc.desk import STATES, RequestFact, RequestState, Window, WindowWanted

IDS = st.sampled_from(["a", "b", "ab", "Ab-1", "run.7", "run.8", "x" * 128])
TEXTS = st.sampled_from(["", "ping", "Ping", "ΣΑΣ", "the model\nfailed", "a\0b\1c", "İstanbul"])
FACTS = st.builds(
    RequestFact,
    id=IDS,
    command=TEXTS,
    state=st.sampled_from(STATES),
    created=st.sampled_from([1.0, 2.0, 3.5]),
    changed=st.floats(0, 9),
    attempts=st.integers(0, 3),
    seconds=st.none() | st.sampled_from([0.0, 0.5, 12.25]),
    submitter=TEXTS,
    priority=st.integers(-100, 100),
    message=TEXTS,
)
ORDERS = ("newest", "oldest", "slowest", "attempts")
WANTED = st.builds(
    WindowWanted,
    first=st.integers(0, 8),
    count=st.integers(0, 8),
    states=st.lists(st.sampled_from(STATES), max_size=3).map(tuple),
    text=st.sampled_from(["", "a", "A", "ping", "σ", "MODEL\nf", "b c", "nothing", "i̇"]),
    order=st.sampled_from(ORDERS),
    at=st.just("") | IDS,
    above=st.integers(-1, 3),
)


def finished(search: Search) -> list[int]:
    while True:
        try:
            next(search)
        except StopIteration as end:
            found: list[int] = end.value
            return found


def window(lines: Lines, wanted: WindowWanted) -> Window:
    return lines.window(finished(lines.search(wanted)), wanted)


def plain(text: str) -> str:
    return text.lower().replace("\0", " ").replace("\1", " ")


def found_in(facts: list[RequestFact], wanted: WindowWanted) -> list[RequestFact]:
    """What a window is cut from, said as plainly as possible."""

    def fits(fact: RequestFact) -> bool:
        texts = map(plain, (fact.id, fact.command, fact.submitter, fact.message))
        return fact.state in (wanted.states or STATES) and any(plain(wanted.text) in text for text in texts)

    found = sorted(filter(fits, facts), key=lambda fact: (fact.created, fact.id), reverse=wanted.order != "oldest")
    if wanted.order == "slowest":
        found = stable(found, lambda fact: -1.0 if fact.seconds is None else fact.seconds)
    if wanted.order == "attempts":
        found = stable(found, lambda fact: fact.attempts)
    return found


def stable(facts: list[RequestFact], key: Any) -> list[RequestFact]:
    return sorted(facts, key=key, reverse=True)  # `reverse` keeps the order of equals


def check_window(lines: Lines, facts: dict[str, RequestFact], wanted: WindowWanted) -> None:
    expected = found_in(list(facts.values()), wanted)
    shown = window(lines, wanted)
    assert shown.total == len(expected)
    assert list(shown.rows) == expected[shown.first : shown.first + wanted.count]
    places = [place for place, fact in enumerate(expected) if fact.id == wanted.at]
    at = facts.get(wanted.at)
    if places:
        assert shown.first == max(0, places[0] - wanted.above)
    elif at is None:
        assert shown.first == wanted.first
    elif wanted.order in ("newest", "oldest") and wanted.above <= 0:
        newest = wanted.order == "newest"
        behind = [fact for fact in expected if ((fact.created, fact.id) < (at.created, at.id)) == newest]
        assert list(shown.rows) == behind[: wanted.count]


@pytest.mark.parametrize("above", [0, 1, 2, 9])
@pytest.mark.parametrize(
    ("order", "first"), [("oldest", [0, 0, 1, 1, 2, 2]), ("newest", [3, 2, 2, 1, 1, 0]), ("slowest", [7] * 6)]
)
def test_a_line_that_the_filter_does_not_let_through_is_meant_where_it_would_be(
    order: Any, first: list[int], above: int
) -> None:
    """Every second of six is let through."""
    lines = Lines()
    for number in range(6):
        state: RequestState = "success" if number % 2 else "polling"
        lines.put(RequestFact(id=f"r{number}", command="ping", state=state, created=float(number), changed=0.0))
    for number in range(0, 6, 2):
        wanted = WindowWanted(states=("success",), order=order, at=f"r{number}", above=above, first=7)
        expected = first[number] if order == "slowest" else max(0, first[number] - above)
        assert window(lines, wanted).first == expected


def check_totals(lines: Lines, facts: dict[str, RequestFact]) -> None:
    states = [fact.state for fact in facts.values()]
    assert lines.by_state == {state: states.count(state) for state in STATES if state in states}
    assert lines.oldest == min((fact.created for fact in facts.values() if fact.state in OPEN), default=None)
    assert len(lines) == len(facts)
    for id in ("a", "run.7"):  # noqa: A001
        assert lines.get(id) == facts.get(id)
        assert (id in lines) == (id in facts)


@settings(max_examples=150, deadline=None)
@given(st.lists(FACTS | IDS | WANTED, min_size=5, max_size=60))
def test_a_window_is_that_of_a_plain_list_filtered_and_sorted(steps: list[RequestFact | str | WindowWanted]) -> None:
    """A fact is put, an id is dropped, and what is wanted is looked at."""
    lines = Lines()
    facts: dict[str, RequestFact] = {}
    for step in steps:
        match step:
            case RequestFact():
                lines.put(step)
                facts[step.id] = step
            case str():
                lines.drop(step)
                facts.pop(step, None)
            case WindowWanted():
                check_window(lines, facts, step)
        check_totals(lines, facts)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 3 * TURN), st.sampled_from(ORDERS), st.sampled_from(["", "7", "ping"]), st.integers(0, 99))
def test_a_list_of_many_turns_is_found_as_a_short_one_is(count: int, order: Any, text: str, seed: int) -> None:
    lines, facts, random = Lines(), [], Random(seed)
    for number in random.sample(range(count), count):
        seconds = random.choice([None, 0.5, number / 7])
        facts.append(
            RequestFact(
                id=f"r{number}", command="ping", state=random.choice(STATES), created=float(number // 3),
                changed=0.0, attempts=random.randrange(4), seconds=seconds,
            )
        )  # fmt: skip
        lines.put(facts[-1])
    wanted = WindowWanted(count=500, order=order, text=text, states=("success", "polling"), first=count // 3)
    expected = found_in(facts, wanted)
    shown = window(lines, wanted)
    assert shown.total == len(expected)
    if order != "slowest":  # that one is to the microsecond
        assert list(shown.rows) == expected[count // 3 : count // 3 + 500]
    assert [fact.seconds for fact in shown.rows] == [fact.seconds for fact in expected[count // 3 :][:500]]


def test_a_search_over_many_lines_lets_others_have_their_turn() -> None:
    lines = Lines()
    for number in range(5 * TURN):
        lines.put(RequestFact(id=f"r{number}", command="ping", state="success", created=float(number), changed=0.0))
    for wanted in (WindowWanted(text="r"), WindowWanted(order="slowest"), WindowWanted(states=("success",))):
        assert sum(1 for _ in lines.search(wanted)) >= 4
    assert sum(1 for _ in lines.search(WindowWanted())) == 0  # a slice needs none


def test_a_forgotten_line_gives_its_place_to_the_next() -> None:
    lines = Lines()
    for number in range(10 * BLOCK):
        lines.put(RequestFact(id=f"r{number}", command="ping", state="polling", created=float(number), changed=0.0))
        lines.drop(f"r{number - 3}")
    assert len(lines) == 3
    assert len(lines._blocks) == 1
    assert len(lines._oldest) < BLOCK
