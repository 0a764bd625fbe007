"""A board that is kept and restored is the board that it was: what it shows, whose it is, what may be done to it."""

import contextlib
import zlib

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from actors.sidekick.scene import Limits, Restoring, Scene
from actors.sidekick.scene.restoring import LONG
from codec.sidekick import ClearAll, Other, Remove, Spawn, Update
from codec.sidekick.kept import (
    STEP,
    Begins,
    BoardHeader,
    KeptPart,
    Reading,
    UnreadableBoard,
    encode_header,
    packed,
    read_header,
)
from tests.plenty import plenty
from tests.sidekick.scene import stories
from tests.sidekick.scene.kit import scene_of
from tests.sidekick.scene.stories import heard, spawn, update
from tests.sidekick.scene.test_laws import LIMITS, TOPICS, each_topic

MODEST = settings(max_examples=plenty(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HEROES = ["ann", "bob", None]
told = st.tuples(
    st.sampled_from(HEROES),
    st.one_of(
        stories.spawns(), stories.spawns(), stories.moves, stories.removals, stories.cells, stories.texts,
        stories.prints, stories.strokes, stories.shown, stories.unknown, stories.clears,
    ),
)  # fmt: skip


def fold(scene: Scene, said: list[tuple[str | None, bytes]]) -> list[bytes]:
    """What was done of this."""
    drawn = ((hero, one) for hero, frame in said for one in heard(frame))
    return [
        one.raw
        for hero, one in drawn
        if isinstance(one, Spawn | Update | Remove | ClearAll | Other) and scene.fold(one, hero) is None
    ]


def book_of(scene: Scene) -> bytes:
    return b"".join(packed(scene.picture()))


def restored(book: bytes, cut: int = STEP, limits: Limits = LIMITS) -> Scene:
    scene, reading = Scene(limits), Reading()
    restoring = Restoring(scene)
    for start in range(0, len(book), cut):
        for record in reading.feed(book[start : start + cut]):
            if record is not None:
                restoring.take(record)
    reading.end()
    restoring.end()
    assert restoring.refused == 0
    return scene


@pytest.mark.slow
@each_topic
@MODEST
@given(data=st.data())
def test_what_was_kept_shows_any_page_what_the_board_showed(topic: str, data: st.DataObject) -> None:
    scene = Scene(LIMITS)
    fold(scene, [("ann", frame) for frame in data.draw(stories.stories(TOPICS[topic]))])
    replay = list(scene.replay())
    again = restored(book_of(scene), data.draw(st.sampled_from([1, 7, 100, STEP])))
    assert list(again.replay()) == replay
    assert again.statistics().components == scene.statistics().components


@pytest.mark.slow
@MODEST
@given(
    before=stories.stories(),
    said=st.lists(told, max_size=40),
    after=st.lists(told, max_size=20),
)
@example(  # a hero's own stands in what has become another's since
    before=[],
    said=[("ann", spawn("row-1")), ("bob", spawn("label-1", parent="row-1")), ("bob", spawn("row-1"))],
    after=[("bob", update("row-1", "changeParent", {"parent": "root"}))],
)
@example(  # nobody's spawn of what somebody has
    before=[],
    said=[("ann", spawn("button-1", text="a")), (None, spawn("button-1", text="b"))],
    after=[(None, update("button-1", "setText", {"text": "c"}))],
)
def test_what_happens_on_a_restored_board_is_what_would_have_happened_on_the_old_one(
    before: list[bytes], said: list[tuple[str | None, bytes]], after: list[tuple[str | None, bytes]]
) -> None:
    """Ownership too: whose clearAll takes what, who is an outsider, whom an event goes to."""
    scene = Scene(LIMITS)
    fold(scene, [("ann", frame) for frame in before] + said)
    again = restored(book_of(scene))
    assert [again.owner(name) for name in stories.NAMES] == [scene.owner(name) for name in stories.NAMES]
    assert fold(again, after) == fold(scene, after)
    assert again.clear(ClearAll(b"{}"), {"bob"}) == scene.clear(ClearAll(b"{}"), {"bob"})
    assert list(again.replay()) == list(scene.replay())


@pytest.mark.slow
@MODEST
@given(before=stories.stories(), after=st.lists(st.one_of(stories.anything, stories.strokes), max_size=40))
def test_a_picture_is_of_its_moment_whatever_is_drawn_while_it_is_written_down(
    before: list[bytes], after: list[bytes]
) -> None:
    scene = Scene(Limits(lines=5, characters=60, depth=4, buffers=2, strokes=12))
    fold(scene, [("ann", frame) for frame in before])
    replay, picture = list(scene.replay()), scene.picture()
    fold(scene, [("ann", frame) for frame in after])
    assert [frame for part in picture for frame in part.frames] == replay


@pytest.mark.slow
@MODEST
@given(stories.stories(most=20), st.data())
def test_a_damaged_book_is_unreadable_and_nothing_worse(story: list[bytes], data: st.DataObject) -> None:
    scene = Scene(LIMITS)
    fold(scene, [(None, frame) for frame in story])
    book = book_of(scene)
    at = data.draw(st.integers(0, len(book) - 1))
    damaged = data.draw(
        st.sampled_from([book[:at], book[:at] + bytes([book[at] ^ 0x41]) + book[at + 1 :], book + b"x", b"", book * 2])
    )
    with pytest.raises(UnreadableBoard):
        restored(damaged)


@MODEST
@given(st.binary(max_size=300))
def test_any_bytes_at_all_are_a_book_or_unreadable(data: bytes) -> None:
    for book in (data, zlib.compress(data)):
        reading = Reading()
        try:
            for record in reading.feed(book):
                assert record is None or isinstance(record, bytes | Begins)
            reading.end()
        except UnreadableBoard:
            pass
    with contextlib.suppress(UnreadableBoard):
        read_header(data)


header = BoardHeader(room="r", drawn_at=1.5, heroes=("ann",), book=b"book", size=4)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encode_header(header)[:-1], "is damaged"),
        (encode_header(BoardHeader(version=2, room="r", drawn_at=1)), "was kept in form 2, and this version"),
        (b"", "is damaged"),
        (b"\xc1", "is damaged"),
    ],
)
def test_a_header_that_cannot_be_read_says_why(data: bytes, words: str) -> None:
    assert read_header(encode_header(header)) == header
    with pytest.raises(UnreadableBoard, match=words):
        read_header(data)


def test_a_book_is_packed_and_read_in_short_steps_however_long_its_messages() -> None:
    text = "".join(f"{n} " for n in range(100_000))
    scene = scene_of(spawn("label-1"), update("label-1", "setText", {"text": text}))
    steps = list(packed(scene.picture()))
    assert len(steps) >= len(text) // STEP
    reading, asked = Reading(), 0
    for step in steps:
        for record in reading.feed(step):
            asked += record is None
    reading.end()
    assert asked >= len(text) // STEP


def test_what_is_refused_of_a_kept_board_is_counted_and_the_rest_stands() -> None:
    scene = scene_of(spawn("label-1"), spawn("row-1"), spawn("button-1"))
    small, reading = Scene(Limits(components=2)), Reading()
    restoring = Restoring(small)
    for record in reading.feed(book_of(scene)):
        if record is not None:
            restoring.take(record)
    assert restoring.refused == 1
    assert small.statistics().components == 2


@pytest.mark.parametrize("items", [3, LONG])
def test_a_variable_of_any_size_comes_back_as_it_was(items: int) -> None:
    item = {"type": "int", "id": "i", "value": 1}
    node = {"type": "list", "id": "l", "length": items, "value": [item] * items}
    setting = update("viz-1", "set", {"path": [], "valueRepresentation": node}, variableName="v")
    adding = {"path": [items], "valueRepresentation": {**item, "value": 2}, "length": items + 1}
    scene = scene_of(spawn("viz-1"), setting, update("viz-1", "append", adding, variableName="v"))
    again = restored(book_of(scene))
    assert list(again.replay()) == list(scene.replay())
    assert again.statistics().components == 1


def test_a_part_keeps_who_owns_it_and_who_may_not_write_on_it() -> None:
    scene = Scene()
    fold(scene, [("ann", spawn("label-1")), ("bob", spawn("label-1"))])
    (part,) = scene.picture()
    assert (part.hero, part.outsiders, list(part.frames)) == ("ann", ("bob",), [spawn("label-1")])
    assert isinstance(part, KeptPart)
    assert fold(restored(book_of(scene)), [("bob", update("label-1", "setText", {"text": "mine"}))]) == []
