"""A page that is told the changes of the list knows the list."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from actors.judge.relisting import changes
from codec.judge import Listed

Step = tuple[str, str]
STEPS = st.lists(st.tuples(st.sampled_from(["post", "change", "leave"]), st.sampled_from("abcdefgh")), max_size=12)


def listed(name: str, cases: int) -> Listed:
    return Listed(id=name, name=name, group="g", contest_id="c", task_id=name, url="", cases=cases)


def folded(known: Mapping[str, Listed], gone: Sequence[str], problems: Sequence[Listed]) -> dict[str, Listed]:
    """As `web/judge/panel.js` does."""
    return {name: each for name, each in known.items() if name not in gone} | {each.id: each for each in problems}


def walked(start: Mapping[str, Listed], steps: list[Step]) -> list[dict[str, Listed]]:
    """The list after each step, as the shelf changes it."""
    lists = [dict(start)]
    for number, (what, name) in enumerate(steps, 1):
        now = dict(lists[-1])
        match what:
            case "post":
                now.pop(name, None)
                now[name] = listed(name, number)
            case "change" if name in now:
                now[name] = listed(name, number)
            case "leave":
                now.pop(name, None)
        lists.append(now)
    return lists


@given(STEPS, STEPS)
def test_whoever_knows_the_list_as_it_was_knows_it_as_it_is(first: list[Step], then: list[Step]) -> None:
    *_, before = walked({}, first)
    lists = walked(before, then)
    gone, problems = changes(before, lists[-1])
    touched = {name for _, name in then}
    assert list(folded(before, gone, problems).items()) == list(lists[-1].items())
    assert {each.id for each in problems} <= touched
    assert set(gone) <= touched


def test_of_a_list_that_has_not_changed_nothing_is_told() -> None:
    one = {name: listed(name, 1) for name in "abc"}
    assert changes(one, {name: listed(name, 1) for name in "abc"}) == ((), ())
