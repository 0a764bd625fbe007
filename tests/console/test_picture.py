"""The picture as a value: what is drawn, what is left out, and what has changed."""

from itertools import pairwise

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.console.picture import REMEMBERED, Notes, Picture, difference, walk
from actors.kernel import Actor, ChildSpec, Crowd, run
from codec.console import Change, DeadNote, Node, StopNote, System, Totals

TOTALS = Totals(1, 0, 0.0, 0, 0, 0, 0.0, 0)


def node(path: str, queued: int = 0) -> Node:
    parent = path.rpartition("/")[0] or None
    name = path.rpartition("/")[2]
    return Node(path, parent, name, "actor", "running", 0.0, 0, queued, 1, 0, 0.0, 0, None, None, False, 0)


def ends(seen: int, keep: int = 5) -> Notes[StopNote]:
    return Notes(tuple(end(n) for n in range(seen))[-keep:], seen)


def end(number: int) -> StopNote:
    return StopNote(0.0, str(number), "done", None, None, False)


def picture(paths: dict[str, int], stops: int = 0, dead: int = 0, up: bool = True, keep: int = 5) -> Picture:
    return Picture(
        at=float(stops + dead),
        totals=TOTALS,
        systems=(System("console", "up" if up else "down", "", None),),
        nodes={path: node(path, queued) for path, queued in sorted(paths.items())},
        stops=ends(stops, keep),
        departures=ends(dead, keep),
        dead=Notes(tuple(DeadNote(0.0, str(n), "Message", "gone") for n in range(dead))[-keep:], dead),
        crashes=ends(dead, keep),
    )


def test_a_change_holds_only_what_differs() -> None:
    before = picture({"top": 0, "top/a": 1, "top/b": 2})
    after = picture({"top": 0, "top/a": 5, "top/c": 0}, stops=1)
    change = difference(before, after)
    assert [each.path for each in change.nodes] == ["top/a", "top/c"]
    assert change.gone == ["top/b"]
    assert [note.path for note in change.stops] == ["0"]
    assert change.systems is None


def test_a_system_that_changed_is_told_with_all_others() -> None:
    change = difference(picture({"top": 0}), picture({"top": 0}, up=False))
    assert change.systems is not None
    assert [system.state for system in change.systems] == ["down"]


@pytest.mark.parametrize(
    ("seen", "told", "fresh"),
    [
        pytest.param(0, 0, [], id="nothing yet"),
        pytest.param(3, 3, [], id="nothing new"),
        pytest.param(3, 1, ["1", "2"], id="two new"),
        pytest.param(10, 2, ["7", "8", "9"], id="more new than kept"),
    ],
)
def test_the_newest_notes_are_told_once(seen: int, told: int, fresh: list[str]) -> None:
    assert [note.path for note in ends(seen, keep=3).since(ends(told, keep=3))] == fresh


def test_notes_are_bounded_and_count_all_that_ever_were() -> None:
    notes = Notes[StopNote]()
    for number in range(REMEMBERED + 3):
        notes = notes.with_one_more(end(number))
    assert notes == ends(REMEMBERED + 3, keep=100)


PATHS = st.dictionaries(st.sampled_from(["top", "top/a", "top/b", "top/c", "top/c/d"]), st.integers(0, 3))


@given(st.lists(st.tuples(PATHS, st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=6))
def test_changes_applied_in_turn_give_the_last_picture(steps: list[tuple[dict[str, int], int, int]]) -> None:
    stops = dead = 0
    pictures = []
    for paths, new_stops, new_dead in steps:
        stops, dead = stops + new_stops, dead + new_dead
        pictures.append(picture(paths, stops, dead))
    rows = dict(pictures[0].nodes)
    told = [note.path for note in pictures[0].stops.newest]
    left = [note.path for note in pictures[0].departures.newest]
    crashes = [note.path for note in pictures[0].crashes.newest]
    for before, after in pairwise(pictures):
        change = msgspec.json.decode(msgspec.json.encode(difference(before, after)), type=Change)
        for each in change.nodes:
            rows[each.path] = each
        for path in change.gone:
            del rows[path]
        told += [note.path for note in change.stops]
        left += [note.path for note in change.departures]
        crashes += [note.path for note in change.crashes]
    assert rows == pictures[-1].nodes
    assert crashes == [str(n) for n in range(dead)][-len(crashes) :] if crashes else dead == 0
    assert left == crashes
    assert told == [str(n) for n in range(stops)][-len(told) :] if told else stops == 0


class Idle(Actor[None]):
    pass


async def test_a_crowd_is_drawn_by_its_first_members_and_counted(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, ChildSpec("top", Crowd))
        for number in range(8):
            await top.start_child(ChildSpec(number, Idle))
        assert [(slot.path, folded) for _, slot, folded in walk(top._slot, crowd=5)] == [
            ("top", 3),
            *((f"top/{number}", 0) for number in range(5)),
        ]
        assert len(list(walk(top._slot, crowd=100, rows=4))) == 4
        _, _, folded = next(walk(top._slot, crowd=100, rows=4))
        assert folded == 5
        await top.stop()


@pytest.mark.parametrize(("crowd", "rows"), [(100, 100), (100, 9), (100, 4), (2, 100), (2, 4), (1, 1), (0, 9), (9, 0)])
async def test_what_is_drawn_is_bounded_and_what_is_left_out_is_counted(crowd: int, rows: int) -> None:
    async with trio.open_nursery() as nursery:
        top = await nursery.start(run, ChildSpec("top", Crowd))
        for number in range(4):
            branch = await top.start_child(ChildSpec(number, Crowd))
            for leaf in range(number):
                await branch.start_child(ChildSpec(leaf, Idle))
        drawn = list(walk(top._slot, crowd=crowd, rows=rows))
        assert len(drawn) <= rows
        for parent, slot, folded in drawn:
            shown = [child for above, child, _ in drawn if above == slot.path]
            assert shown == slot.children()[: len(shown)]
            assert (len(shown) <= crowd, folded) == (True, len(slot.children()) - len(shown))
            assert parent == (slot.path.rpartition("/")[0] or None)
        await top.stop()
